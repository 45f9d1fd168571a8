/** Whether the environment says how to log: who does wants to see what happens. */
export function isLoggingAskedFor(environment: Readonly<Record<string, string | undefined>>): boolean {
  const { EVENHAND_LOG_LEVEL: level = '', EVENHAND_LOG_FILE: file = '', EVENHAND_JSON_LOGS: json = '' } = environment;
  return level !== '' || file !== '' || !['', '0', 'false', 'no'].includes(json.toLowerCase());
}
