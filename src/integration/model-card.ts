import { documentToHtml } from '../document/document-to-html.ts';
import { documentToMarkdown } from '../document/document-to-markdown.ts';
import type { Provenance, ReportManifest } from '../document/provenance.ts';
import {
  numberColumn,
  type ReportBlock,
  type ReportDocument,
  type ReportFact,
  type ReportSection,
} from '../document/report-document.ts';
import { labelText, listed } from '../document/report-text.ts';
import { assertKnownOptions, type OptionNames } from '../internal/arguments.ts';
import { counted, formatCount, formatLevel, NOTHING, tableCount } from '../internal/format.ts';
import { isMapping, valueAt } from '../internal/values.ts';
import { inWords } from '../metrics/metric-markdown.ts';
import type { MetricResult } from '../metrics/metric-result.ts';
import { INTERSECTION_SEPARATOR } from '../table/index.ts';
import type { FileValidation } from './measure-attributes.ts';
import { validationDocument, validationMade } from './validation-document.ts';
import { parseValidationJson, validationFromJson } from './validation-from-json.ts';

/** Options of {@link createModelCard}. */
export interface ModelCardOptions {
  /**
   * The name of the model.
   * @defaultValue a mark for a person to fill
   */
  readonly name?: string | undefined;
  /**
   * The date, the input files and the command of the card.
   * @defaultValue none
   */
  readonly provenance?: Provenance | undefined;
}

const MODEL_CARD_OPTION_NAMES: OptionNames<ModelCardOptions> = { name: true, provenance: true };

/** A model card. */
export interface ModelCard {
  /** The card, independent of its output format. */
  readonly document: ReportDocument;
  /** The questions that a person has to answer, by section. */
  readonly toFill: Readonly<Record<string, readonly string[]>>;
  /** Returns the card as Markdown, to be filled in a text editor. */
  toMarkdown(): string;
  /** Returns the card as one HTML page. */
  toHtml(): Promise<string>;
  /** Returns the card as plain JSON. */
  toJSON(): Record<string, unknown>;
}

/** The people who can answer what a result does not contain. */
const DEVELOPERS = 'the developers of the model';
const OWNERS = 'the people who decide on the use of the model';

/** The questions of a section, with the people who answer them. */
type Questions = readonly (readonly [name: string, by: string, question: string])[];

/** What no result contains, by section. The questions follow the paper. */
const QUESTIONS = {
  'Model details': [
    ['Organization and contact', DEVELOPERS, 'Who developed the model, and who answers questions about it?'],
    ['Date and version', DEVELOPERS, 'When was the model made, and which version is this?'],
    ['Type of model', DEVELOPERS, 'Which algorithm, features, parameters and fairness constraints does it have?'],
    ['Documents and license', DEVELOPERS, 'Where is more information, and under which license is the model?'],
  ],
  'Intended use': [
    ['Primary uses', OWNERS, 'Which decisions does the model support?'],
    ['Primary users', OWNERS, 'Who uses it, with which training and oversight?'],
    ['Out-of-scope uses', OWNERS, 'For which uses, places and people is it not made?'],
  ],
  Factors: [
    ['Relevant factors', OWNERS, 'For which groups, instruments or environments could the results differ?'],
    ['Factors that were not measured', OWNERS, 'Which of them are not in the data, and why?'],
  ],
  Metrics: [['Choice of metrics', OWNERS, 'Why do these metrics fit the use, and what do errors of each kind cost?']],
  'Evaluation data': [
    ['Motivation', DEVELOPERS, 'Why were these data chosen, and do they represent the people of the intended use?'],
    ['Preprocessing', DEVELOPERS, 'How were the data collected, labelled and changed?'],
  ],
  'Training data': [
    [
      'Training data',
      DEVELOPERS,
      'Which data was the model trained on, and how do they differ from the evaluation data?',
    ],
  ],
  'Ethical considerations': [
    ['Sensitive data and consent', OWNERS, 'Which sensitive data are used, and on which basis?'],
    ['Risks and harms', OWNERS, 'Whom can wrong decisions harm, and how can they object?'],
    ['Mitigation', OWNERS, 'What was done to reduce the risks, and what does it cost?'],
  ],
  'Caveats and recommendations': [
    ['Further tests', OWNERS, 'What should be tested before and during use?'],
    ['Recommendations', OWNERS, 'What should users of the model know and do?'],
  ],
} as const satisfies Readonly<Record<string, Questions>>;

type QuestionedSection = keyof typeof QUESTIONS;

/**
 * Creates a model card from a result of `validate`, with the sections of Mitchell et al. Metrics, factors, group
 * results, exclusions and limitations come from the result. Everything else is marked with `To be filled in by`.
 * @param result the JSON of a validation, as `evenhand validate --out result.json` writes it or `validationToJson`
 *   returns it, or of a workflow (`evenhand run-pipeline --json`, `workflowToJson`), whose final model is described
 * @throws {DataValidationError} if it is neither
 * @see M. Mitchell et al., Model cards for model reporting (2019), arXiv 1810.03993
 * @example
 * ```ts
 * import { createModelCard, validateRows, validationToJson } from 'evenhand/integration';
 *
 * const yPred = [1, 1, 0, 1, 0, 0, 1, 0];
 * const sex = ['m', 'm', 'm', 'm', 'f', 'f', 'f', 'f'];
 * const validation = await validateRows({ yPred, sensitive: { sex }, minGroupSize: 2 });
 * const card = createModelCard(validationToJson(validation), { name: 'Loan model' });
 * console.log(card.toMarkdown().split('\n')[0], Object.keys(card.toFill).length);
 * // # Model card: Loan model 8
 * ```
 */
export function createModelCard(result: object, options: ModelCardOptions = {}): ModelCard {
  assertKnownOptions('createModelCard', options, MODEL_CARD_OPTION_NAMES);
  const workflow = workflowOf(result);
  const json = parseValidationJson(JSON.stringify(workflow?.validation ?? result), 'result');
  const validation = validationFromJson(json, 'the sensitive attribute');
  const document = cardDocument(validation, json.manifest, workflow, options);
  const toFill = Object.fromEntries(
    Object.entries(QUESTIONS).map(([section, questions]) => [section, questions.map(([, , question]) => question)]),
  );
  return Object.freeze({
    document,
    toFill,
    toMarkdown: () => documentToMarkdown(document),
    toHtml: () => documentToHtml(document),
    toJSON: () => ({
      title: document.title,
      passed: validation.passed,
      sections: document.sections.map(({ title, blocks }) => ({
        section: title,
        content: blocks.flatMap(blockToJson),
        to_fill: toFill[title] ?? [],
      })),
    }),
  });
}

function cardDocument(
  validation: FileValidation,
  manifest: ReportManifest | undefined,
  workflow: TrainedModel | undefined,
  { name, provenance }: ModelCardOptions,
): ReportDocument {
  const results = Object.entries(validation.attributes).flatMap(([attribute, metrics]) =>
    Object.values(metrics).map((result) => ({ attribute, result })),
  );
  const report = validationDocument(validation);
  const [metrics, ...others] = report.sections.filter(
    ({ title }) => !['What changed', 'How to read this'].includes(title),
  );
  const blocks = metrics?.blocks ?? [];
  return {
    title: `Model card${name === undefined ? '' : `: ${name}`}`,
    subject: 'The sections follow Mitchell et al., Model cards for model reporting (2019).',
    verdict: report.verdict,
    sections: [
      section('Model details', [facts([...nameFact(name), ...detailFacts(manifest), ...(workflow?.model ?? [])])]),
      section('Intended use', []),
      section('Factors', factorBlocks(validation)),
      section('Metrics', [
        facts(
          metricFacts(
            results.map(({ result }) => result),
            manifest,
          ),
        ),
      ]),
      section('Evaluation data', dataBlocks(results, manifest, workflow)),
      section('Training data', workflow === undefined ? [] : [facts(workflow.training)]),
      {
        title: 'Quantitative analyses',
        blocks: [
          ...blocks.filter(({ kind }) => kind === 'table'),
          ...others.flatMap((one) => resultBlocks(one, validation)),
        ],
      },
      section('Ethical considerations', []),
      section('Caveats and recommendations', [
        ...blocks.filter(({ kind }) => kind === 'note'),
        { kind: 'list', items: caveats(report) },
      ]),
    ],
    made: [
      ...(manifest === undefined ? [] : ([['Command of the result', manifest.command]] as const)),
      ...validationMade(results.map(({ result }) => result)),
    ],
    provenance,
  };
}

/** What the result of a workflow shows about its final model. */
interface TrainedModel {
  /** The final metrics, in the form of a validation. */
  readonly validation: object;
  readonly model: readonly ReportFact[];
  readonly training: readonly ReportFact[];
  readonly evaluation: readonly ReportFact[];
}

/** Returns what a result of a workflow shows; undefined if it is not one. */
function workflowOf(result: object): TrainedModel | undefined {
  const attributes = valueAt(result, ['final_metrics', 'attributes']);
  const verdict = valueAt(result, ['validation']);
  if (!isMapping(attributes) || !isMapping(verdict)) return undefined;
  const at = (...path: string[]): unknown => valueAt(result, path);
  const fact = (name: string, value: unknown): ReportFact[] => {
    if (value === null || value === undefined || (Array.isArray(value) && value.length === 0)) return [];
    return [{ name, value: factText(value) }];
  };
  const { passed = null, threshold = null } = verdict;
  return {
    validation: {
      passed,
      threshold,
      manifest: at('manifest'),
      attributes: Object.fromEntries(
        Object.entries(attributes).map(([name, metrics]) => {
          const isJudged = verdict['attribute'] === name;
          return [name, { passed: isJudged ? passed : null, verdict: isJudged ? verdict : null, metrics }];
        }),
      ),
    },
    model: [
      ...fact('Method', at('method')),
      ...fact('Target', at('target')),
      ...fact('Features', at('features', 'final')),
      ...fact('Transformers', at('transformers_applied')),
      ...fact('Fairness constraint', at('constraint')),
      ...fact('Decision threshold', at('decision_threshold')),
      ...fact('Accuracy on the evaluation rows', at('final_metrics', 'accuracy')),
      ...fact('Seed', at('seed')),
    ],
    training: [
      ...fact('Rows for training', at('split', 'n_train')),
      ...fact('Excluded rows', at('split', 'n_dropped')),
    ],
    evaluation: fact('Rows held out for evaluation', at('split', 'n_test')),
  };
}

/** Returns a value of a result as text: a list of its items, or of its fields with their names. */
function factText(value: unknown): string {
  if (Array.isArray(value)) return value.map(factText).join(', ');
  if (isMapping(value))
    return Object.entries(value)
      .map(([name, one]) => `${name} ${factText(one)}`)
      .join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Returns a section: what the result contains, and then what a person has to fill. */
function section(title: QuestionedSection, known: readonly ReportBlock[]): ReportSection {
  return { title, blocks: [...known, facts(fillFacts(title))] };
}

function fillFacts(title: QuestionedSection): ReportFact[] {
  const questions: Questions = QUESTIONS[title];
  return questions.map(([name, by, question]) => ({ name, value: `To be filled in by ${by}`, remark: question }));
}

function facts(list: readonly ReportFact[]): ReportBlock {
  return { kind: 'facts', facts: list };
}

function nameFact(name: string | undefined): ReportFact[] {
  return [{ name: 'Name', value: name ?? `To be filled in by ${DEVELOPERS}` }];
}

/** Returns what the options of the validation show about the model. */
function detailFacts(manifest: ReportManifest | undefined): ReportFact[] {
  const { y_pred: yPred, score, y_true: yTrue, positive_label: positive } = manifest?.options ?? {};
  const known = (name: string, value: unknown): ReportFact[] => (typeof value === 'string' ? [{ name, value }] : []);
  return [
    ...known('Column of decisions', yPred),
    ...known('Column of scores', score),
    ...known('Column of true labels', yTrue),
    ...known('Label that counts as a positive decision', positive),
  ];
}

/** Returns the groups of each attribute, also those that are excluded. */
function factorBlocks({ attributes }: FileValidation): ReportBlock[] {
  const rows = Object.entries(attributes).flatMap(([attribute, metrics]) => {
    const sizes = new Map<string, number>();
    const reasons = new Map<string, Set<string>>();
    for (const { nPerGroup, excluded } of Object.values(metrics)) {
      for (const [label, n] of Object.entries(nPerGroup)) sizes.set(label, Math.max(n, sizes.get(label) ?? 0));
      for (const [label, { n, reason }] of Object.entries(excluded)) {
        sizes.set(label, Math.max(n, sizes.get(label) ?? 0));
        reasons.set(label, (reasons.get(label) ?? new Set<string>()).add(reason));
      }
    }
    return Array.from(sizes, ([label, n]) => [
      labelText(attribute),
      labelText(label),
      tableCount(n),
      [...(reasons.get(label) ?? [])].join('; ') || NOTHING,
    ]);
  });
  return [
    {
      kind: 'table',
      caption: 'Groups that were measured',
      columns: [
        { name: 'Attribute' },
        { name: 'Group' },
        numberColumn('Rows'),
        { name: 'Excluded from metrics', wraps: true },
      ],
      rows,
    },
  ];
}

function metricFacts(results: readonly MetricResult[], manifest: ReportManifest | undefined): ReportFact[] {
  const options = manifest?.options ?? {};
  const measures = [...new Set(results.flatMap(({ perGroup }) => Object.values(perGroup).flatMap(Object.keys)))];
  const levels = [...new Set(results.flatMap(({ ciLevel }) => ciLevel ?? []))];
  const thresholds = ['score_threshold', 'threshold', 'gate', 'metric'].filter((name) => options[name] !== undefined);
  return [
    { name: 'Fairness metrics', value: listed([...new Set(results.map(({ metric }) => inWords(metric)))]) },
    { name: 'Measures of each group', value: listed(measures.map(inWords)) },
    ...thresholds.map((name) => ({ name: inWords(name), value: factText(options[name]) })),
    {
      name: 'Uncertainty',
      value: levels.length === 0 ? 'no intervals' : `intervals at ${levels.map(formatLevel).join(', ')}`,
      remark: [...new Set(results.flatMap(({ ciMethod }) => ciMethod ?? []))].join(', ') || undefined,
    },
  ];
}

function dataBlocks(
  results: readonly { readonly attribute: string; readonly result: MetricResult }[],
  manifest: ReportManifest | undefined,
  workflow: TrainedModel | undefined,
): ReportBlock[] {
  const rows = manifest?.rows ?? null;
  const dropped = results.filter(({ result }) => result.nDropped > 0);
  return [
    facts([
      ...(manifest?.inputs ?? []).map(({ path, sha256 }) => ({
        name: 'Input file',
        value: path,
        remark: sha256 === null ? undefined : `SHA-256 ${sha256}`,
      })),
      ...(workflow?.evaluation ?? []),
      ...(rows === null
        ? []
        : [
            {
              name: 'Rows read',
              value: formatCount(rows),
              remark: workflow === undefined ? undefined : 'with those for training',
            },
          ]),
      ...dropped.map(({ attribute, result: { metric, nDropped } }) => ({
        name: `Excluded rows, ${labelText(attribute)}, ${inWords(metric)}`,
        value: counted(nDropped, 'row'),
        remark: 'missing values',
      })),
    ]),
  ];
}

/**
 * Returns the blocks of a section of results under one heading. Results by single attributes are unitary, and those by
 * crossed attributes intersectional.
 */
function resultBlocks({ title, blocks }: ReportSection, { attributes }: FileValidation): ReportBlock[] {
  const attribute = Object.keys(attributes).find((name) => title === `By ${labelText(name)}`);
  if (attribute === undefined) return [{ kind: 'heading', text: title }, ...blocks];
  const by = `by ${labelText(attribute)}`;
  const kind = attribute.includes(INTERSECTION_SEPARATOR) ? 'Intersectional' : 'Unitary';
  return [
    { kind: 'heading', text: `${kind} results ${by}` },
    ...blocks.map((block) => (block.kind === 'heading' ? { ...block, text: `${block.text} ${by}` } : block)),
  ];
}

function caveats({ sections }: ReportDocument): string[] {
  const explained = sections.find(({ title }) => title === 'How to read this')?.blocks ?? [];
  return [
    ...explained.flatMap((block) => (block.kind === 'list' ? block.items : [])),
    'The numbers describe the evaluation data. They do not show how the model performs for other people, at other times, or after a change of the model.',
  ];
}

function blockToJson(block: ReportBlock): unknown[] {
  switch (block.kind) {
    case 'facts':
      return block.facts.map(({ name, value, remark }) => ({
        name,
        value,
        ...(remark === undefined ? {} : { remark }),
      }));
    case 'table':
      return [{ caption: block.caption, columns: block.columns.map(({ name }) => name), rows: block.rows }];
    case 'list':
    case 'note':
      return [...block.items];
    case 'heading':
    case 'paragraph':
    case 'code':
      return [block.text];
    default:
      return [];
  }
}
