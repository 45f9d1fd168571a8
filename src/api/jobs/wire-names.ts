import { toSnakeCase } from '../../internal/arguments.ts';
import type { Job } from './job.ts';

/** Arguments and options of the library that fields of requests stand for. */
const NAMES = [
  'yPred',
  'yTrue',
  'yScore',
  'score',
  'scoreThreshold',
  'sensitive',
  'intersections',
  'sampleWeight',
  'positiveLabel',
  'yTruePositiveLabel',
  'naValues',
  'control',
  'threshold',
  'metric',
  'comparator',
  'strictMissing',
  'minGroupSize',
  'withCi',
  'ciLevel',
  'ciMethod',
  'ciSamples',
  'withEffects',
  'withPValue',
  'method',
  'referenceGroup',
  'agg',
  'compat',
  'nanPolicy',
  'seed',
  'backend',
  'trainSize',
  'randomState',
  'classWeight',
  'targetColumn',
] as const;

const WIRE_NAMES: ReadonlyMap<string, string> = new Map(NAMES.map((name) => [name, toSnakeCase(name)]));

/** The fields beside a configuration that arguments of the library stand for. */
const FIELDS_BESIDE: Readonly<Partial<Record<Job['kind'], readonly string[]>>> = {
  workflow: ['minGroupSize', 'trainSize', 'randomState', 'threshold', 'classWeight'],
  'llm-eval': ['minGroupSize', 'withCi', 'ciLevel', 'ciSamples', 'threshold', 'metric', 'comparator', 'randomState'],
};

/** Whether a validation is asked for, whose fields are the library's arguments. */
export function isValidation(kind: Job['kind']): boolean {
  return kind === 'validate-rows' || kind === 'validate-table';
}

/** The field that an argument of the library comes from; undefined for one that no request names. */
export function wireNameOf(argument: string, kind: Job['kind']): string | undefined {
  if (!isValidation(kind)) return FIELDS_BESIDE[kind]?.includes(argument) === true ? toSnakeCase(argument) : undefined;
  // Arrays have one name for scores, beside decisions or in place of them.
  if (kind === 'validate-rows' && argument === 'score') return 'y_score';
  if (kind === 'validate-table' && argument === 'yScore') return 'score';
  return WIRE_NAMES.get(argument);
}

/** What the library says for those who call it or use the command line, and how a request would put it. */
const PHRASES: readonly (readonly [RegExp, string])[] = [
  [/^(?:validateFile|validateRows): /, ''],
  [
    /Every key is listed by 'evenhand config schema --kind llm-eval'\./g,
    'GET /openapi.json lists every key (LlmEvalBody).',
  ],
  [/Every key is listed by 'evenhand config schema'\./g, 'The documentation of pipelines lists every key.'],
  [/applyPipeline \('evenhand pipeline'\)/g, 'POST /pipeline'],
  // (positiveLabel, --positive-label, positive_label in a configuration)
  [/\((\w+(?: null)?), --[a-z][\w-]*(?: \w+)?(?:, \w+ in a configuration)?\)/g, '($1)'],
  // --profile (in code: profile)
  [/--[a-z][\w-]* \((?:in code: )?([^()]+)\)/g, '$1'],
];

/** An option of the command line. */
const OPTION = /(?<![\w-])--([a-z]\w*(?:-\w+)*)/g;

/** A sentence of the library as a request would put it. */
export function inWireNames(text: string, kind: Job['kind']): string {
  const told = PHRASES.reduce((sentence, [phrase, wire]) => sentence.replaceAll(asGlobal(phrase), wire), text);
  // Data stand in quotes, and stay as they are.
  return told
    .split(/((?<!\w)'[^']*'|"[^"]*")/)
    .map((part, place) => (place % 2 === 1 ? part : wordsOf(part, kind)))
    .join('');
}

function asGlobal(phrase: RegExp): RegExp {
  return phrase.global ? phrase : new RegExp(phrase.source, `${phrase.flags}g`);
}

function wordsOf(part: string, kind: Job['kind']): string {
  return part
    .replaceAll(OPTION, (_, name: string) => name.replaceAll('-', '_'))
    .replaceAll(/\b[a-z]+(?:[A-Z][a-z]*)+\b/g, (word) => wireNameOf(word, kind) ?? WIRE_NAMES.get(word) ?? word);
}
