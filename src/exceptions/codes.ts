/** The description of an error code: its class, cause and fix. */
interface ErrorCodeEntry {
  /** The error class, or `Problem` for responses of the HTTP service that are not caused by a library error. */
  readonly raisedAs: string;
  readonly cause: string;
  readonly fix: string;
}

/**
 * Defines every code of an error or a problem response, with its cause and fix. The codes are stable: programs may
 * depend on them. The wording of messages may change. The first code of each class is its general code. It is used if
 * no more specific code applies. docs/errors.md is generated from this list.
 */
export const ERROR_CODES = {
  'toolkit-error': {
    raisedAs: 'FairnessToolkitError',
    cause: 'An operation failed, and no more specific class describes why.',
    fix: 'Read the message and `cause`.',
  },
  'invalid-argument': {
    raisedAs: 'ValueError',
    cause: 'An argument or option has a value outside its allowed range.',
    fix: 'Change the parameter that `context.parameter` names. The message states the allowed range.',
  },
  'unknown-option': {
    raisedAs: 'ValueError',
    cause: 'An options object has a property that does not exist, often a misspelled one.',
    fix: 'Use the suggested name. `context.expected` lists all names.',
  },
  'unknown-name': {
    raisedAs: 'ValueError',
    cause: 'A metric, method, constraint or other choice has a name that is not in the list.',
    fix: 'Use one of the names in the message.',
  },
  'invalid-data': {
    raisedAs: 'DataValidationError',
    cause: 'The data cannot be used as given.',
    fix: 'Correct the column or argument that `context` names.',
  },
  'invalid-value': {
    raisedAs: 'DataValidationError',
    cause: 'A row holds a value that its column does not allow, such as text in a column of numbers.',
    fix: 'Correct the value. `context.index` (from 0) or the row number in the message locates it.',
  },
  'empty-data': {
    raisedAs: 'DataValidationError',
    cause: 'No rows are left to compute with.',
    fix: 'Check the file, the filter and the missing values.',
  },
  'too-few-rows': {
    raisedAs: 'DataValidationError',
    cause: 'There are rows, but fewer than the method needs.',
    fix: 'Add rows, or lower the minimum that the message names.',
  },
  'too-few-groups': {
    raisedAs: 'DataValidationError',
    cause: 'Fairness metrics compare groups, and fewer than two groups can be compared.',
    fix: 'Choose another sensitive attribute, or lower the minimum group size.',
  },
  'too-many-groups': {
    raisedAs: 'DataValidationError',
    cause: 'A sensitive attribute has more groups than are supported. It may be an identifier.',
    fix: 'Choose another attribute, or combine groups.',
  },
  'unknown-column': {
    raisedAs: 'DataValidationError',
    cause: 'The data have no column of this name.',
    fix: 'Use one of the columns that the message lists.',
  },
  'duplicate-column': {
    raisedAs: 'DataValidationError',
    cause: 'A column occurs twice, or is used in two roles that exclude each other.',
    fix: 'Name each column once.',
  },
  'unknown-label': {
    raisedAs: 'DataValidationError',
    cause: 'No row has the label, such as the positive label or a reference group, that was named.',
    fix: 'Use one of the labels in the data.',
  },
  'positive-label-required': {
    raisedAs: 'DataValidationError',
    cause: 'A column holds labels other than 0 and 1, and no positive label was named.',
    fix: 'Name the label that counts as positive.',
  },
  'length-mismatch': {
    raisedAs: 'DataValidationError',
    cause: 'Columns that belong together differ in length.',
    fix: 'Give one value per row in each of them.',
  },
  'unreadable-file': {
    raisedAs: 'DataValidationError',
    cause: 'A file does not exist, cannot be read because of its permissions, or does not have the expected format.',
    fix: 'Check the path in `context.path`, its permissions and its format.',
  },
  'unwritable-file': {
    raisedAs: 'DataValidationError',
    cause: 'A file cannot be written. The folder may not exist, or the disk may be full.',
    fix: 'Check the path in `context.path`, its permissions and the free space.',
  },
  'invalid-state': {
    raisedAs: 'DataValidationError',
    cause: 'A saved model, state or snapshot is damaged, or belongs to other options.',
    fix: 'Save it again, or use the options that it was saved with.',
  },
  'invalid-encoding': {
    raisedAs: 'DataValidationError',
    cause: 'Text is not valid UTF-8.',
    fix: 'Save the file as UTF-8.',
  },
  'data-too-large': {
    raisedAs: 'DataValidationError',
    cause: 'The data exceed a limit on rows, columns, bytes or memory.',
    fix: 'Send less data, or raise the limit that the message names.',
  },
  'missing-package': {
    raisedAs: 'DependencyError',
    cause: 'An optional package is not installed, or cannot start on this machine.',
    fix: 'Run the install command in the message.',
  },
  'training-failed': {
    raisedAs: 'TrainingError',
    cause: 'Training started and failed, for example because the loss became infinite.',
    fix: 'Follow the suggestion: usually a lower learning rate, or other features.',
  },
  'invalid-config': {
    raisedAs: 'ConfigValidationError',
    cause: 'A configuration file, a command-line option or an environment variable is invalid.',
    fix: 'Correct each key that the message lists with its line and column.',
  },
  'metric-unavailable': {
    raisedAs: 'MetricComputationError',
    cause: 'A metric cannot be computed at all, for example because its backend failed.',
    fix: 'Follow the suggestion in the message.',
  },
  'missing-argument': {
    raisedAs: 'MetricComputationError',
    cause: 'A metric needs a column that was not given, such as true labels or scores.',
    fix: 'Give the column that `context.missing` names.',
  },
  'step-failed': {
    raisedAs: 'PipelineExecutionError',
    cause: 'A step of a pipeline failed. `context` holds its name and index.',
    fix: 'Read `cause`, which is the error of the step.',
  },
  'provider-failed': {
    raisedAs: 'LLMClientError',
    cause: 'A language model did not answer. `context.kind` says why: auth, rate_limit, timeout, …',
    fix: 'Follow the suggestion. Answers that already arrived are kept.',
  },
  'live-calls-not-allowed': {
    raisedAs: 'CacheMissError',
    cause: 'Answers are not in the cache, and calls to a provider are not allowed.',
    fix: 'Allow live calls once with `--live` or EVENHAND_LLM_ALLOW_LIVE=1, or supply recorded answers.',
  },
  'replay-only': {
    raisedAs: 'CacheMissError',
    cause: 'Answers are not recorded, and `replay_only` allows no calls.',
    fix: 'Remove `replay_only` once, or evaluate only the recorded prompts.',
  },
  'gate-failed': {
    raisedAs: 'FairnessAssertionError',
    cause: 'A fairness metric is beyond its limit, or is undefined.',
    fix: 'Check the groups in the result. An undefined metric never passes.',
  },
  'malformed-request': {
    raisedAs: 'Problem',
    cause: 'The body is not valid JSON, CSV or form data.',
    fix: 'Correct the body.',
  },
  'not-authenticated': {
    raisedAs: 'Problem',
    cause: 'The request has no valid key.',
    fix: 'Send `Authorization: Bearer KEY` with a key of the service.',
  },
  'not-allowed': { raisedAs: 'Problem', cause: 'The service does not allow this operation.', fix: 'Ask its operator.' },
  'not-found': {
    raisedAs: 'Problem',
    cause: 'The path or the run does not exist.',
    fix: 'Check the path and the run id.',
  },
  'method-not-allowed': {
    raisedAs: 'Problem',
    cause: 'The path exists, but not for this method.',
    fix: 'Use a method that the `Allow` header lists.',
  },
  'not-acceptable': {
    raisedAs: 'Problem',
    cause: 'The result does not exist in the requested format.',
    fix: 'Request one of the formats that the message lists.',
  },
  'request-timeout': {
    raisedAs: 'Problem',
    cause: 'The request arrived too slowly.',
    fix: 'Send it again over a faster connection.',
  },
  conflict: {
    raisedAs: 'Problem',
    cause: 'The run is not in a state that allows this.',
    fix: 'Wait until it has ended, or start a new run.',
  },
  'too-large': { raisedAs: 'Problem', cause: 'The request exceeds a size limit.', fix: 'Send less data.' },
  'unsupported-media-type': {
    raisedAs: 'Problem',
    cause: 'The content type is not supported.',
    fix: 'Send one of the content types that the message lists.',
  },
  'invalid-request': {
    raisedAs: 'Problem',
    cause: 'A field of the request is invalid.',
    fix: 'Correct the fields that `errors` lists.',
  },
  'too-many-requests': {
    raisedAs: 'Problem',
    cause: 'The client sent more requests than allowed.',
    fix: 'Wait as long as `Retry-After` says.',
  },
  'headers-too-large': { raisedAs: 'Problem', cause: 'The headers exceed a size limit.', fix: 'Send fewer headers.' },
  'internal-fault': {
    raisedAs: 'Problem',
    cause: 'The service failed. Its log has the details under the id in the message.',
    fix: 'Give the id to the operator of the service.',
  },
  unavailable: {
    raisedAs: 'Problem',
    cause: 'The service cannot accept the request now: its queue or its disk is full, or it is stopping.',
    fix: 'Wait as long as `Retry-After` says.',
  },
} as const satisfies Readonly<Record<string, ErrorCodeEntry>>;

/** The stable code of an error or a problem response, in kebab case. */
export type ErrorCode = keyof typeof ERROR_CODES;

/** Returns the catalogue of error codes as the Markdown page docs/errors.md. */
export function errorCodesMarkdown(): string {
  const rows = Object.entries(ERROR_CODES).map(
    ([code, { raisedAs, cause, fix }]) => `| \`${code}\` | ${raisedAs} | ${cause} | ${fix} |`,
  );
  return [
    '# Error codes',
    '',
    'Every error of the library has a `code`, and every problem response of the service includes it. The codes are stable: your program can depend on them. Messages are written for people, and their wording may change.',
    '',
    '```ts',
    "import { FairnessToolkitError, ValueError } from 'evenhand/exceptions';",
    '',
    "const error = new ValueError('The seed parameter must be whole.', { context: { parameter: 'seed' } });",
    'console.log(FairnessToolkitError.isInstance(error), error.code, error.context.parameter);',
    '// true invalid-argument seed',
    '```',
    '',
    'In addition, `context` holds the facts behind the message, as far as they are known: `parameter`, `argument` or `column` (what is wrong), `index` or `path` (where), `expected` and `received` (or `value`).',
    '',
    'The class shows who can fix the problem. `evenhand` ends with exit code 1 for `FairnessAssertionError`, 2 for invalid options, data, configuration and packages, and 3 for failed training, steps and providers. In the last rows, `Problem` is an answer of the HTTP service that no library error causes.',
    '',
    '| Code | Class | Cause | Fix |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}
