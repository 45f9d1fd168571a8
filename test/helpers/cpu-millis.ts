/** Returns the CPU time of this process in milliseconds. Unlike wall time, it is not affected by a busy machine. */
export function cpuMillis(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
