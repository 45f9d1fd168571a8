import type { MonitorState } from './alert-event.ts';
import type { WatchedCombination } from './watched-combination.ts';

/** What is known of every metric: by attribute, then by metric. */
export type EngineStates = Readonly<Record<string, Readonly<Record<string, MonitorState>>>>;

/** The states of what is watched, as they are told. */
export function engineStates(
  combinations: readonly WatchedCombination[],
  present: readonly MonitorState[],
): EngineStates {
  const states = new Map<string, Map<string, MonitorState>>();
  combinations.forEach(({ name, metric }, place) => {
    const own = states.get(name) ?? new Map<string, MonitorState>();
    states.set(name, own.set(metric.metric, present[place] as MonitorState));
  });
  return Object.freeze(
    Object.fromEntries(Array.from(states, ([name, own]) => [name, Object.freeze(Object.fromEntries(own))])),
  );
}
