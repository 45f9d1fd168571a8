import { ConfigValidationError, FairnessToolkitError } from '../exceptions/index.ts';
import { suggestLabel } from '../internal/arguments.ts';
import { counted } from '../internal/format.ts';
import {
  type ColumnGuess,
  type ColumnGuesses,
  guessColumns,
  type FeatureGuesses,
  guessFeatures,
  guessPositiveLabel,
  possibleGroups,
} from '../table/guess-columns.ts';
import type { Table } from '../table/index.ts';
import { flagName, formatNames, parseNames, parseNumber } from './option-parsers.ts';
import type { Prompt } from './prompt.ts';

/** The values of the `init` options that answer questions, as the user typed them. */
export interface GivenAnswers {
  readonly yPred?: string;
  readonly score?: string;
  readonly scoreThreshold?: string;
  readonly yTrue?: string;
  readonly sensitive?: string;
  readonly positiveLabel?: string;
  readonly yTruePositiveLabel?: string;
  readonly sampleWeight?: string;
  readonly cluster?: string;
  readonly features?: string;
  readonly threshold?: string;
}

/** Defines how a question is answered if no option gives the answer. */
export interface AnswerMode {
  /** The prompt that asks the user; undefined without a terminal. */
  readonly prompt: Prompt | undefined;
  /** Whether guesses are accepted without asking. */
  readonly acceptsGuesses: boolean;
}

/** The user's choices, from which the first configuration and the suggested commands are created. */
export interface InitChoices {
  readonly decision: string | undefined;
  readonly score: string | undefined;
  readonly scoreThreshold: number | undefined;
  readonly truth: string | undefined;
  readonly sensitive: readonly string[];
  /** The label that counts as 1 in the decisions; undefined if the decisions are 0 and 1. */
  readonly decisionLabel: string | undefined;
  /** The label that counts as 1 in the true labels; undefined if the true labels are 0 and 1. */
  readonly truthLabel: string | undefined;
  readonly weight: string | undefined;
  readonly cluster: string | undefined;
  readonly features: FeatureGuesses;
  readonly threshold: number | undefined;
  /** The choices as rows of a table: the role, the column or label, and the reason. */
  readonly reasons: readonly (readonly [role: string, choice: string, reason: string])[];
}

interface Question {
  readonly field: keyof GivenAnswers;
  readonly text: string;
  readonly guess?: string | undefined;
  /** Information that helps the user to answer. The hint is shown if there is no guess. */
  readonly hint?: string;
  readonly isRequired?: boolean;
  /** The options that an error names as missing, if it is not only that of the field. */
  readonly missing?: string;
  /** Whether the guess is certain because of earlier answers, so that the user is not asked. */
  readonly isDerived?: boolean;
  /** Throws if the answer is invalid. */
  readonly check: (answer: string) => void;
}

/** The maximum number of labels of decisions and true labels. */
const MAX_LABELS = 20;

/** The maximum number of columns that a message lists. */
const MAX_LISTED = 30;

/**
 * Chooses columns, labels and a threshold for a file. Options take precedence over the user's answers, and answers over
 * guesses.
 */
export class ColumnChooser {
  readonly #table: Table;
  readonly #guesses: ColumnGuesses;
  readonly #given: GivenAnswers;
  readonly #mode: AnswerMode;
  readonly #roles = new Map<string, string>();
  readonly #reasons: (readonly [string, string, string])[] = [];

  constructor(table: Table, given: GivenAnswers, mode: AnswerMode) {
    this.#table = table;
    this.#guesses = guessColumns(table);
    this.#given = given;
    this.#mode = mode;
  }

  /**
   * Makes all choices.
   * @throws {ConfigValidationError} if an option is invalid, or an answer is missing and there is no terminal to ask
   * the user
   * @throws {PromptClosed} if the user ends the dialogue before all questions are answered
   */
  async choose(): Promise<InitChoices> {
    const guesses = this.#guesses;
    const given = this.#given;
    if (given.yPred !== undefined && given.score !== undefined) {
      throw new ConfigValidationError('Give either --y-pred or --score.');
    }
    const decision =
      given.score === undefined
        ? await this.#column({ field: 'yPred', text: 'Column of decisions' }, 'decisions', guesses.decision)
        : undefined;
    const score =
      decision === undefined
        ? await this.#column({ field: 'score', text: 'Column of scores' }, 'scores', guesses.score)
        : undefined;
    const scoreThreshold = score === undefined ? undefined : await this.#scoreThreshold(score);
    const isOnlyTruth = decision === undefined && score === undefined;
    const truth = await this.#column(
      { field: 'yTrue', text: 'Column of true labels', isRequired: isOnlyTruth },
      'true labels',
      guesses.truth,
    );
    const sensitive = await this.#sensitive();
    const decisionLabel = decision === undefined ? undefined : await this.#label(decision, 'positiveLabel');
    const truthLabel =
      truth === undefined
        ? undefined
        : await this.#label(truth, isOnlyTruth ? 'positiveLabel' : 'yTruePositiveLabel', decisionLabel);
    const weight = await this.#column(
      { field: 'sampleWeight', text: 'Column of row weights' },
      'row weights',
      guesses.weight,
    );
    const cluster =
      given.cluster === undefined && guesses.cluster === undefined
        ? undefined
        : await this.#column(
            { field: 'cluster', text: 'Column of people or things with several rows each', isDerived: true },
            'clusters',
            guesses.cluster,
          );
    const target = truth ?? decision;
    const features =
      target === undefined
        ? { features: [], left: [] }
        : await this.#features(target, truth === undefined ? decisionLabel : truthLabel);
    const threshold = await this.#threshold();
    this.#explainOthers(features);
    const reasons = this.#reasons;
    return { decision, score, scoreThreshold, truth, sensitive, decisionLabel, truthLabel, weight, cluster, features, threshold, reasons }; // prettier-ignore
  }

  /** Returns the answer to a question: the value of an option, the user's answer, or the guess. */
  async #answer(question: Question): Promise<string | undefined> {
    const { field, guess, isRequired, isDerived, check, hint } = question;
    const { prompt, acceptsGuesses } = this.#mode;
    const given = this.#given[field];
    if (given !== undefined) {
      checkOption(field, given, check);
      return given;
    }
    if (prompt !== undefined && !acceptsGuesses) return ask(prompt, question);
    if (guess !== undefined && (acceptsGuesses || isDerived === true)) return guess;
    if (isRequired !== true) return undefined;
    const { missing = flagName(field) } = question;
    throw new ConfigValidationError(`Missing: ${missing}. ${hint ?? ''}`.trim(), {
      context: { missing: [flagName(field)] },
      suggestion: describeGuesses(this.#guesses),
    });
  }

  async #column(
    question: Omit<Question, 'check' | 'guess' | 'hint' | 'missing'>,
    role: string,
    guess: ColumnGuess | undefined,
  ): Promise<string | undefined> {
    const free = guess === undefined || this.#roles.has(guess.column) ? undefined : guess;
    const check = (name: string): void => {
      this.#assertFree(name);
      if (role === 'decisions' || role === 'true labels') this.#assertFewLabels(name);
      else if (role !== 'clusters') this.#table.numeric(name);
    };
    const name = await this.#answer({
      ...question,
      guess: free?.column,
      missing: MEASURABLE,
      hint: `No column name suggests decisions, true labels or scores. ${this.#columns()}`,
      check,
    });
    if (name !== undefined) this.#assign(name, role, free);
    return name;
  }

  async #sensitive(): Promise<readonly string[]> {
    const guesses = this.#guesses.sensitive.filter(({ column }) => !this.#roles.has(column));
    const answer = await this.#answer({
      field: 'sensitive',
      text: 'Sensitive columns, comma-separated',
      guess: guesses.length === 0 ? undefined : formatNames(guesses.map(({ column }) => column)),
      hint: this.#groupColumns(),
      isRequired: true,
      check: (text) => {
        for (const name of parseNames(text)) this.#assertFree(name);
      },
    });
    const names = [...new Set(parseNames(answer ?? ''))];
    for (const name of names)
      this.#assign(
        name,
        'sensitive',
        guesses.find(({ column }) => column === name),
      );
    return names;
  }

  /**
   * Returns the label that counts as 1 in a column; undefined if the labels are 0 and 1.
   * @param known the label that counts as 1 in the decisions. It also counts as 1 in true labels that have it.
   */
  async #label(
    column: string,
    field: 'positiveLabel' | 'yTruePositiveLabel',
    known?: string,
  ): Promise<string | undefined> {
    const { isNeeded, label: guess, counts } = guessPositiveLabel(this.#table.column(column));
    if (!isNeeded && this.#given[field] === undefined) return undefined;
    const labels = counts.map(({ label, count }) => `'${label}' (${counted(count, 'row')})`).join(', ');
    const others = negativeText(counts.length - 1);
    if (this.#given[field] === undefined && counts.some(({ label }) => label === known)) {
      this.#reasons.push(['positive label', known ?? '', `of ${column}: as in the decisions; ${others}`]);
      return known;
    }
    const label = await this.#answer({
      field,
      text:
        counts.length === 2
          ? `Label of '${column}' that counts as positive: ${labels}`
          : `Label of '${column}' that counts as positive (${others}): ${labels}`,
      guess,
      hint: `The labels of '${column}' are ${labels}. One of them counts as positive, and ${others}.`,
      isRequired: true,
      check: (text) => {
        if (counts.some((one) => one.label === text)) return;
        const near = suggestLabel(
          text,
          counts.map((one) => one.label),
        );
        throw new ConfigValidationError(`'${column}' has no label '${text}'. Its labels are ${labels}.`, {
          ...(near === '' ? {} : { suggestion: near }),
        });
      },
    });
    this.#reasons.push(['positive label', label ?? '', `of ${column}: ${labels}${counts.length > 2 ? `; ${others}` : ''}`]); // prettier-ignore
    return label;
  }

  /** Returns the threshold for scores; undefined if all scores are from 0 to 1, where the default of 0.5 applies. */
  async #scoreThreshold(score: string): Promise<number | undefined> {
    const values = this.#table.numeric(score).values.filter((value) => !Number.isNaN(value));
    const [least, most] = values.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity] as [number, number]); // prettier-ignore
    if (least >= 0 && most <= 1 && this.#given.scoreThreshold === undefined) return undefined;
    const text = await this.#answer({
      field: 'scoreThreshold',
      text: `Score from which a decision is positive ('${score}' has values from ${String(least)} to ${String(most)})`,
      hint: `The values of '${score}' are from ${String(least)} to ${String(most)}, so that the default of 0.5 does not fit.`,
      isRequired: true,
      check: parseNumber,
    });
    return Number(text);
  }

  async #features(target: string, positiveLabel: string | undefined): Promise<FeatureGuesses> {
    const others = [this.#guesses.decision, this.#guesses.score, this.#guesses.weight];
    const used = [...this.#roles.keys(), ...others.flatMap((guess) => guess?.column ?? [])];
    const guesses = guessFeatures(this.#table, { target, positiveLabel, used });
    const answer = await this.#answer({
      field: 'features',
      text: `Columns from which a model predicts '${target}', comma-separated`,
      guess: guesses.features.length === 0 ? undefined : formatNames(guesses.features),
      isDerived: true,
      check: (text) => {
        for (const name of parseNames(text)) {
          this.#table.column(name);
          if (name === target || ['sensitive', 'clusters'].includes(this.#roles.get(name) ?? ''))
            this.#assertFree(name);
        }
      },
    });
    const features = answer === undefined ? [] : [...new Set(parseNames(answer))];
    return { features, left: guesses.left.filter(({ column }) => !features.includes(column)) };
  }

  async #threshold(): Promise<number | undefined> {
    const text = await this.#answer({
      field: 'threshold',
      text: 'Largest difference between selection rates that passes, for example 0.1',
      check: (given) => {
        const value = parseNumber(given);
        if (value < 0 || value >= 1) {
          throw new ConfigValidationError(`The threshold must be at least 0 and below 1. Got ${given}.`);
        }
      },
    });
    return text === undefined ? undefined : Number(text);
  }

  #assign(name: string, role: string, guess: ColumnGuess | undefined): void {
    this.#roles.set(name, role);
    this.#reasons.push([role, name, guess?.column === name ? guess.reason : 'your choice']);
  }

  /** Adds the columns that are not used, each with the reason. */
  #explainOthers({ left }: FeatureGuesses): void {
    const { passedOver, score } = this.#guesses;
    const others = passedOver.filter(({ column }) => !this.#roles.has(column));
    for (const { column, reason } of others) this.#reasons.push(['no role', column, reason]);
    if (score !== undefined && !this.#roles.has(score.column)) {
      this.#reasons.push(['no role', score.column, `may hold scores: ${score.reason}; measure them with --score`]);
    }
    for (const { column, reason } of left) this.#reasons.push(['not a feature', column, reason]);
  }

  #assertFree(name: string): void {
    this.#table.column(name);
    const role = this.#roles.get(name);
    if (role !== undefined) throw new ConfigValidationError(`'${name}' is already the column of ${role}.`);
  }

  #assertFewLabels(name: string): void {
    const { counts } = guessPositiveLabel(this.#table.column(name));
    if (counts.length <= MAX_LABELS) return;
    throw new ConfigValidationError(
      `'${name}' has ${counted(counts.length, 'different value')}. Decisions and true labels have at most ${String(MAX_LABELS)}.`,
      { suggestion: 'Name a column of labels. For numbers, use --score.' },
    );
  }

  /** Explains why there is no guess of a sensitive column, and which columns could be one. */
  #groupColumns(): string {
    const free = possibleGroups(this.#table).filter((name) => !this.#roles.has(name));
    const reason =
      this.#guesses.sensitive.length === 0 ? 'No column name suggests groups, such as sex, race or age group. ' : '';
    return free.length === 0
      ? `${reason}${this.#columns()}`
      : `${reason}Columns with 2 to ${String(MAX_LABELS)} values: ${quotedList(free)}.`;
  }

  #columns(): string {
    return `The columns are ${quotedList(this.#table.columnNames)}.`;
  }
}

/** The options that say what is measured, of which one is required. */
const MEASURABLE = 'one of --y-pred, --y-true and --score';

/** Describes the guesses as options, each with its reason. */
export function describeGuesses(guesses: ColumnGuesses): string {
  const { decision, truth, score, weight, cluster, sensitive } = guesses;
  const known: (readonly [field: keyof GivenAnswers, guess: ColumnGuess | undefined])[] = [
    ['yPred', decision],
    ['score', score],
    ['yTrue', truth],
    ...sensitive.map((guess) => ['sensitive', guess] as const),
    ['sampleWeight', weight],
    ['cluster', cluster],
  ];
  const texts = known.flatMap(([field, guess]) =>
    guess === undefined ? [] : [`${flagName(field)} '${guess.column}' (${guess.reason})`],
  );
  return texts.length === 0 ? 'No column could be guessed.' : `Guessed from the file: ${texts.join('; ')}.`;
}

/** Returns the first names in quotes, and the number of the other names. */
function quotedList(names: readonly string[]): string {
  const more = names.length > MAX_LISTED ? ` and ${String(names.length - MAX_LISTED)} more` : '';
  const listed = names.slice(0, MAX_LISTED).map((name) => `'${name}'`);
  return `${listed.join(', ')}${more}`;
}

/** Says what happens to the labels of a decision that are not positive. A decision has two values. */
function negativeText(others: number): string {
  return others === 1 ? 'the other label counts as negative' : `the ${String(others)} other labels count as negative`;
}

/** Asks until the answer is valid. */
async function ask(prompt: Prompt, { text, guess, isRequired, hint, check }: Question): Promise<string | undefined> {
  if (guess === undefined && hint !== undefined && isRequired === true) prompt.say(hint);
  for (;;) {
    const preset = guess ?? (isRequired === true ? undefined : 'none');
    const typed = await prompt.ask(`${text}${preset === undefined ? '' : ` [${preset}]`}: `);
    const answer = typed === '' ? guess : typed === '-' ? undefined : typed;
    if (answer === undefined && isRequired !== true) return undefined;
    const problem = answer === undefined ? 'An answer is needed.' : problemWith(answer, check);
    if (problem === undefined) return answer;
    prompt.say(problem);
  }
}

function problemWith(answer: string, check: (answer: string) => void): string | undefined {
  try {
    check(answer);
    return undefined;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const { suggestion } = FairnessToolkitError.isInstance(error) ? error : { suggestion: undefined };
    return suggestion === undefined ? error.message : `${error.message} ${suggestion}`;
  }
}

function checkOption(field: keyof GivenAnswers, answer: string, check: (answer: string) => void): void {
  const problem = problemWith(answer, check);
  if (problem === undefined) return;
  throw new ConfigValidationError(`${flagName(field)}: ${problem}`, {
    context: { parameter: field, received: answer },
  });
}
