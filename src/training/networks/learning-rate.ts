/** The names of how a learning rate may change over the epochs. */
export const SCHEDULES = ['constant', 'linear', 'cosine'] as const;

/** One of {@link SCHEDULES}. */
export type Schedule = (typeof SCHEDULES)[number];

/** What is left of a learning rate after a share of the steps, from 1 to 0; `constant` stays at 1. */
export function scheduleFactor(schedule: Schedule, done: number): number {
  if (schedule === 'linear') return 1 - done;
  return schedule === 'cosine' ? (1 + Math.cos(Math.PI * done)) / 2 : 1;
}
