/**
 * Returns the time of this machine, in milliseconds since 1970. It is only the default of clock parameters: functions
 * take the time as an argument.
 */
export function machineClock(): number {
  return Math.round(performance.timeOrigin + performance.now());
}
