/** Puts a result's members between the run's and the time, as text: results may be large, and need not be understood. `download` is where the run's data are. */
export function answerBody(runId: string, result: string, timestamp: string, download?: string): string {
  const text = result.trim();
  if (!text.startsWith('{') || !text.endsWith('}')) {
    throw new Error(`A job gave what is no JSON object: ${text.slice(0, 80)}`);
  }
  const members = text.slice(1, -1).trim();
  const between = members === '' ? '' : `${members},`;
  const link = download === undefined ? '' : `"download":${JSON.stringify(download)},`;
  return `{"run_id":${JSON.stringify(runId)},"status":"success",${between}${link}"timestamp":${JSON.stringify(timestamp)}}`;
}
