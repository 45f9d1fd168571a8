/**
 * The clock of this machine, in milliseconds since 1970. Only a default for those who have no clock of their own to give:
 * what is computed takes its time as an argument.
 */
export function machineClock(): number {
  return Math.round(performance.timeOrigin + performance.now());
}
