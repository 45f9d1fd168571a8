/**
 * Returns the time of this machine, in milliseconds since 1970. Use this function only as the default value of clock
 * parameters. Other functions take the time as an argument.
 */
export function machineClock(): number {
  return Math.round(performance.timeOrigin + performance.now());
}
