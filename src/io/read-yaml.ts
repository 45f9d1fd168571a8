import type { LineCounter, YAMLParseError } from 'yaml';

import type { YamlDocument, YamlFault } from './yaml-document.ts';
import { describeYamlError } from './yaml-faults.ts';
import { placeAt, YamlNodeReader } from './yaml-node-reader.ts';

/** Options of {@link readYaml}. */
export interface ReadYamlOptions {
  /**
   * Keys whose scalars are their text, as they are written: 1.0 stays '1.0'.
   * @defaultValue none
   */
  readonly textKeys?: readonly string[] | undefined;
}

/** Anchors at most: the time that a parser takes for a run of them grows with its square. */
const MAX_ANCHORS = 100;

/**
 * Reads one document of YAML 1.2 (JSON is one too). Keys of mappings are always
 * their text, so that the labels 1, true and `__proto__` are kept as written;
 * `no` and `yes` are texts, as YAML 1.2 has it.
 */
export async function readYaml(text: string, { textKeys = [] }: ReadYamlOptions = {}): Promise<YamlDocument> {
  const crowded = findCrowd(text);
  if (crowded !== undefined) return withFaults([crowded]);
  const yaml = await import('yaml');
  const lines = new yaml.LineCounter();
  // Keys are compared by their text here: 1 and "1" would be one label. The schema holds whatever a %YAML line says.
  const document = yaml.parseDocument(text, {
    lineCounter: lines,
    uniqueKeys: false,
    prettyErrors: false,
    schema: 'core',
  });
  const [error] = [...document.errors, ...document.warnings];
  if (error !== undefined) return withFaults([faultOf(error, lines)]);
  const reader = new YamlNodeReader({ yaml, document, lines, textKeys: new Set(textKeys) });
  const value = reader.read(document.contents);
  return reader.faults.length > 0 ? withFaults(reader.faults) : { value, places: reader.places, faults: [] };
}

function withFaults(faults: readonly YamlFault[]): YamlDocument {
  return { value: null, places: new WeakMap(), faults };
}

function faultOf(error: YAMLParseError | Error, lines: LineCounter): YamlFault {
  const { code = '', pos = [0] } = error as Partial<YAMLParseError>;
  return { ...placeAt(lines, pos[0]), ...describeYamlError(code, error.message) };
}

/** Finds the anchor that is one too many. */
function findCrowd(text: string): YamlFault | undefined {
  const extra = [...text.matchAll(/(?<![^\s,[{:-])&(?=[^\s])/g)][MAX_ANCHORS];
  if (extra === undefined) return undefined;
  const before = text.slice(0, extra.index);
  const place = { line: before.split('\n').length, column: extra.index - before.lastIndexOf('\n') };
  return {
    ...place,
    message: `there are more than ${String(MAX_ANCHORS)} anchors`,
    suggestion: 'Write the values out.',
  };
}
