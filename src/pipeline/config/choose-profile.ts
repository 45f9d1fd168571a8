import { suggestNames } from '../../internal/arguments.ts';
import { hasControls } from '../../io/config-text/config-problem.ts';
import { MAX_SUGGESTED, unknownKey } from '../../io/config-text/read-fields.ts';
import { isMapping, type Mapping } from '../../internal/values.ts';
import type { PathProblem, Wording } from '../../io/config-text/path-problem.ts';
import type { YamlPositions } from '../../io/read-yaml.ts';
import { PIPELINE_FIELDS } from '../../schemas/pipeline/pipeline-document.ts';
import { PIPELINE_DIALECT } from './config-text.ts';

/** The requested profile. */
export interface ProfileRequest {
  readonly name: string | undefined;
  /** What requests the profile: an option or an environment variable. */
  readonly by: string;
}

/** A configuration merged with a profile. */
export interface ChosenProfile {
  readonly document: Mapping;
  /** The name of the applied profile; null if no profile was applied. */
  readonly profile: string | null;
  /** The names of all profiles. */
  readonly names: readonly string[];
  /** Problems in `profiles`. The keys of the applied profile are checked later, in the merged configuration. */
  readonly faults: readonly PathProblem[];
  /** Whether the requested profile is missing or invalid, so that no further check is possible. */
  readonly isLost: boolean;
}

/**
 * Merges a profile into the top level. If the profile contains a key, its value completely replaces the value of this
 * key at the top level. If no profile is requested, a single profile is applied. If there are several profiles, none of
 * them is applied.
 */
export function chooseProfile(
  document: Mapping,
  request: ProfileRequest,
  positions: YamlPositions,
  wording: Wording,
): ChosenProfile {
  const { profiles, ...top } = document;
  const names = isMapping(profiles) ? Object.keys(profiles) : [];
  const name = request.name ?? (names.length === 1 ? names[0] : undefined);
  const profile = isMapping(profiles) && name !== undefined && names.includes(name) ? profiles[name] : undefined;
  const isLost =
    (request.name !== undefined && profile === undefined) || (profile !== undefined && !isMapping(profile));
  const problems = [
    ...(profiles === undefined ? [] : profileProblems(profiles, name, wording)),
    ...(request.name !== undefined && profile === undefined ? [absent(request, names)] : []),
  ];
  const merged = { ...top, ...(isMapping(profile) ? profile : {}) };
  placeMerged(merged, document, profile, positions);
  return { document: merged, profile: profile === undefined ? null : (name ?? null), names, faults: problems, isLost };
}

function absent({ name, by }: ProfileRequest, names: readonly string[]): PathProblem {
  const suggestion =
    names.length === 0
      ? 'The configuration has no profiles: do not request one.'
      : suggestNames(String(name), names, 'profiles');
  const message = `${by} requests the profile '${String(name)}', which does not exist`;
  return { path: ['profiles'], at: 'key', message, suggestion };
}

/** Checks that every profile, applied or not, is a mapping of known keys. */
function profileProblems(profiles: unknown, chosen: string | undefined, wording: Wording): PathProblem[] {
  if (!isMapping(profiles)) return [notMapping(['profiles'], 'profiles by name', wording)];
  const known = Object.keys(PIPELINE_FIELDS);
  return Object.entries(profiles).flatMap(([name, profile]) => {
    const path = ['profiles', name];
    if (hasControls(name)) return [brokenName(path, wording)];
    if (!isMapping(profile)) return [notMapping(path, 'keys of the top level', wording)];
    if (name === chosen) return [];
    const unknown = Object.keys(profile).filter((key) => !known.includes(key));
    return unknown.map((key, index) =>
      unknownKey([...path, key], known, wording, PIPELINE_DIALECT, index < MAX_SUGGESTED),
    );
  });
}

function brokenName(path: readonly string[], wording: Wording): PathProblem {
  const message = `${wording(path).key}: a profile's name must be one line, without control characters`;
  return { path, at: 'key', message, suggestion: 'Take that character out.' };
}

function notMapping(path: readonly string[], of: string, wording: Wording): PathProblem {
  const { key, given } = wording(path);
  const suggestion = 'Write the keys below it, indented, or remove it.';
  return { path, at: 'value', message: `${key}: must be a mapping of ${of}; got ${given}`, suggestion };
}

/** Determines where the text defines each key of the merged configuration: in the profile or at the top level. */
function placeMerged(merged: Mapping, document: Mapping, profile: unknown, positions: YamlPositions): void {
  const below = positions.get(document);
  if (below === undefined) return;
  const above = isMapping(profile) ? positions.get(profile)?.entries : undefined;
  positions.set(merged, { at: below.at, entries: new Map([...below.entries, ...(above ?? [])]) });
}
