import { ConfigValidationError } from '../../exceptions/index.ts';
import type { LLMEvalConfig } from '../../schemas/llm-eval/llm-eval-document.ts';
import type { PlannedPrompt } from '../plan/planned-prompt.ts';
import { planRows, type PlannedRow, unitNotes } from './plan-rows.ts';
import { parsePromptRows, type PromptRows } from './prompt-rows.ts';
import { readRowTable, recordTable } from './row-table.ts';

/** The options that choose rows, and take precedence over the configuration. */
export interface RowOptions {
  /**
   * A file of answers that were collected before: CSV, TSV, Parquet or JSON lines. The answers are scored, and no
   * request is sent.
   * @defaultValue `answers_path`
   */
  readonly answersPath?: string | undefined;
  /**
   * The columns of answers or prompts that are compared.
   * @defaultValue `dimensions`, or else all columns that have no other meaning, and between 2 and 20 values
   */
  readonly dimensions?: readonly string[] | undefined;
  /**
   * A column of answers or prompts. Rows with the same value may depend on each other and count as one unit: signs are
   * flipped, and units are resampled, for all rows of a cluster together.
   * @defaultValue `cluster`
   */
  readonly cluster?: string | undefined;
}

/** Returns the configuration with the given options. */
export function withRowOptions(config: LLMEvalConfig, { answersPath, dimensions, cluster }: RowOptions): LLMEvalConfig {
  if (answersPath === undefined && dimensions === undefined && cluster === undefined) return config;
  const answers = answersPath === undefined ? {} : { answersPath, answers: null };
  const columns = { dimensions: dimensions ?? config.dimensions, cluster: cluster ?? config.cluster };
  const chosen = Object.freeze({ ...config, ...answers, ...columns });
  if (chosen.answers !== null || chosen.answersPath !== null || chosen.promptsPath !== null) return chosen;
  const parameter = dimensions === undefined ? 'cluster' : 'dimensions';
  throw new ConfigValidationError(`${parameter} names columns of rows, but there are no rows.`, {
    context: { parameter },
    suggestion: `Pass answersPath, or remove ${parameter}.`,
  });
}

/**
 * Reads the answers of a configuration.
 * @returns null if the configuration has no answers
 */
export async function readAnswers(config: LLMEvalConfig): Promise<PromptRows | null> {
  const { answers, answersPath } = config;
  if (answersPath !== null) return parsePromptRows(await readRowTable(answersPath), 'answers', choicesOf(config));
  return answers === null ? null : parsePromptRows(recordTable('answers', answers), 'answers', choicesOf(config));
}

/**
 * Reads the prompts of a file, and plans them for every evaluator. Without a column `repeat`, each prompt is sent
 * `repeats` times.
 */
export async function readPrompts(
  config: LLMEvalConfig,
  evaluators: readonly string[],
): Promise<{ readonly prompts: readonly PlannedPrompt[]; readonly notes: readonly string[] }> {
  const { promptsPath, repeats } = config;
  if (promptsPath === null) return { prompts: [], notes: [] };
  const rows = parsePromptRows(await readRowTable(promptsPath), 'prompts', choicesOf(config));
  if (rows.hasRepeats && repeats > 1) {
    throw new ConfigValidationError(
      `${rows.title} has the column 'repeat', so repeats must be 1. Got ${String(repeats)}.`,
      {
        context: { parameter: 'repeats' },
        suggestion: 'Remove repeats from the configuration, or the column from the file.',
      },
    );
  }
  const prompts = evaluators.flatMap((evaluator) =>
    rowsFor(rows, evaluator).flatMap(({ prompt }) =>
      Array.from({ length: repeats }, (_, index) =>
        Object.freeze({ ...prompt, repeat: prompt.repeat * repeats + index }),
      ),
    ),
  );
  return { prompts, notes: [...rows.notes, ...unitNotes(rows)] };
}

/** Returns the planned rows of an evaluator. The evaluator counterfactual compares groups, so it needs a dimension. */
export function rowsFor(rows: PromptRows, evaluator: string): readonly PlannedRow[] {
  const planned = planRows(rows, evaluator);
  return evaluator === 'counterfactual' ? planned.filter(({ prompt }) => prompt.dimension !== null) : planned;
}

function choicesOf({ dimensions, cluster }: LLMEvalConfig): { dimensions?: readonly string[]; cluster?: string } {
  return { ...(dimensions === null ? {} : { dimensions }), ...(cluster === null ? {} : { cluster }) };
}
