import { ConfigValidationError, DataValidationError } from '../../exceptions/index.ts';
import { type OptionNames, suggestNames } from '../../internal/arguments.ts';
import { groupBy } from '../../internal/values.ts';
import type { LLMEvalConfig } from '../../schemas/llm-eval/llm-eval-document.ts';
import { readReplay } from '../bbq/read-replay.ts';
import type { LLMClient } from '../client/llm-client.ts';
import { requestName } from '../client/replay-client.ts';
import type { AnswerRecord } from '../client/transcript.ts';
import { targetConfigs } from '../config/build-llm-eval-config.ts';
import { CURRENT } from '../config/check-targets.ts';
import type { LLMRequest } from '../plan/planned-prompt.ts';
import { prepareRun } from './prepare-run.ts';
import type { PreparedRun } from './prepared-run.ts';
import { PLAN_OPTION_NAMES, type PlanOptions } from './run-options.ts';

/** Options that determine which requests a run with several targets sends. */
export interface TargetsPlanOptions extends Omit<PlanOptions, 'client'> {
  /**
   * The clients to use instead of the providers, by the names of targets. The caller is responsible for the permission
   * to send requests.
   * @defaultValue the providers' clients
   */
  readonly clients?: Readonly<Record<string, LLMClient>> | undefined;
  /**
   * The transcript of an earlier run of the same prompts. Its answers are one more target, named `baseline`. No
   * requests are sent for it.
   * @defaultValue none
   */
  readonly baselinePath?: string | undefined;
}

const { client: _, ...OTHERS } = PLAN_OPTION_NAMES;

/** Lists the options of {@link TargetsPlanOptions}. */
export const TARGETS_PLAN_OPTION_NAMES: OptionNames<TargetsPlanOptions> = {
  ...OTHERS,
  clients: true,
  baselinePath: true,
};

/** A target that is ready to send its first request. */
export interface PreparedTarget {
  readonly name: string;
  readonly run: PreparedRun;
}

/** The targets of a run, and the target of earlier answers; null if there are none. */
export interface PreparedTargets {
  readonly targets: readonly PreparedTarget[];
  readonly baseline: PreparedRun | null;
}

/**
 * Returns the configuration of each target. A configuration without targets has the single target `current`.
 * @throws {ConfigValidationError} if there is nothing to compare
 */
export function namedConfigs(config: LLMEvalConfig, hasBaseline: boolean): Record<string, LLMEvalConfig> {
  if (config.targets !== null) return targetConfigs(config);
  if (hasBaseline) return { [CURRENT]: config };
  throw new ConfigValidationError('The configuration has no targets, so there is nothing to compare.', {
    context: { parameter: 'targets' },
    suggestion: 'Add targets to the configuration, pass baselinePath, or call runLlmEval.',
  });
}

/**
 * Plans the run of each target and looks up the known answers. Sends nothing and writes nothing.
 * @param resumed the records of the transcript that the run continues
 */
export async function prepareTargets(
  config: LLMEvalConfig,
  options: TargetsPlanOptions,
  resumed: readonly AnswerRecord[],
): Promise<PreparedTargets> {
  const { clients = {}, baselinePath, replayPath, ...others } = options;
  const configs = namedConfigs(config, baselinePath !== undefined);
  assertClients(clients, Object.keys(configs));
  const seen = new Set<string>();
  const replayed = replayPath === undefined ? undefined : byKey(await readReplay(replayPath, config), configs);
  const targets: PreparedTarget[] = [];
  for (const [name, own] of Object.entries(configs)) {
    const client = Object.hasOwn(clients, name) ? clients[name] : undefined;
    targets.push({ name, run: await prepareRun(own, { ...others, client }, resumed, { seen, replayed }) });
  }
  const [first] = targets;
  const baseline =
    baselinePath === undefined || first === undefined
      ? null
      : await prepareBaseline(first.run.config, baselinePath, options, first.run.plan.requests);
  return { targets, baseline };
}

/**
 * Returns a function that finds the recorded answer to a request by its key. With several targets, the prompt does not
 * identify an answer, because each target has its own.
 */
function byKey(
  records: readonly AnswerRecord[],
  configs: Readonly<Record<string, LLMEvalConfig>>,
): (request: LLMRequest) => AnswerRecord | undefined {
  const keys = new Map(records.map((record) => [record.key, record]));
  if (Object.keys(configs).length > 1) return ({ key }) => keys.get(key);
  const names = new Map(records.map((record) => [requestName(record), record]));
  return (request) => keys.get(request.key) ?? names.get(requestName(request));
}

/** Prepares the target of earlier answers. Prompts that were not asked earlier have no answer. */
async function prepareBaseline(
  config: LLMEvalConfig,
  baselinePath: string,
  { evaluators, metrics, allowCode, minGroupSize, allowSmallSamples }: TargetsPlanOptions,
  requests: readonly LLMRequest[],
): Promise<PreparedRun> {
  const find = earlierAnswers(await readReplay(baselinePath, config), requests, baselinePath);
  const plan = { evaluators, metrics, allowCode, minGroupSize, allowSmallSamples, cache: null };
  // No request is sent for the baseline, so all requests count as requests of another run.
  const seen = new Set(requests.map(({ key }) => key));
  return prepareRun(config, plan, [], { seen, replayed: find });
}

/**
 * Returns a function that finds the earlier answer to a request: by its key, or by its prompt and repeat if the model
 * or the system prompt has changed.
 * @throws {DataValidationError} if the file has no answer to any of the requests, or answers of several models to the
 * same prompt
 */
function earlierAnswers(
  records: readonly AnswerRecord[],
  requests: readonly LLMRequest[],
  path: string,
): (request: LLMRequest) => AnswerRecord | undefined {
  const keys = new Map(records.map((record) => [record.key, record]));
  const names = groupBy(records, (record) => requestName(record));
  const find = (request: LLMRequest): AnswerRecord | undefined => {
    const own = keys.get(request.key);
    if (own !== undefined) return own;
    const those = names.get(requestName(request)) ?? [];
    const answered = those.filter(({ text }) => text !== null);
    if (new Set(answered.map(({ key }) => key)).size > 1) throw severalModels(answered, path);
    return answered.at(-1) ?? those.at(-1);
  };
  if (requests.some((request) => find(request) !== undefined)) return find;
  throw new DataValidationError(`The baseline '${path}' has no answer to any prompt of this configuration.`, {
    code: 'unreadable-file',
    context: { path },
    suggestion: 'Use the answers of an earlier run with the same prompts. To compare other prompts, use targets.',
  });
}

function severalModels(records: readonly AnswerRecord[], path: string): DataValidationError {
  const models = [...new Set(records.map(({ model }) => model))];
  const whose = models.length > 1 ? `of ${models.join(' and ')}` : 'with different settings';
  return new DataValidationError(`The baseline '${path}' has several answers to the same prompt, ${whose}.`, {
    code: 'unreadable-file',
    context: { path, models },
    suggestion: 'Use a file with the answers of one model.',
  });
}

/** Checks that clients have the names of targets, and that different clients have different ids. */
function assertClients(clients: Readonly<Record<string, LLMClient>>, names: readonly string[]): void {
  const unknown = Object.keys(clients).find((name) => !names.includes(name));
  if (unknown !== undefined) {
    throw new ConfigValidationError(`clients: there is no target '${unknown}'.`, {
      context: { parameter: 'clients', received: unknown },
      suggestion: suggestNames(unknown, names, 'targets'),
    });
  }
  const byId = groupBy(Object.entries(clients), ([, { id }]) => id);
  for (const [id, those] of byId) {
    if (new Set(those.map(([, client]) => client)).size === 1) continue;
    const targets = those.map(([name]) => name).join(' and ');
    throw new ConfigValidationError(`clients: the clients of ${targets} have the same id, '${id}'.`, {
      context: { parameter: 'clients', received: id },
      suggestion: 'Give each client its own id: answers are stored by the id of the client.',
    });
  }
}
