/** Milliseconds that this process has computed: bounds on work hold by it on a busy machine too, unlike by the clock. */
export function cpuMillis(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
