import { spawn } from 'node:child_process';

/** The resources that a process used. */
export interface ProcessFigures {
  readonly seconds: number;
  readonly peakMib: number;
  readonly stdout: string;
}

/**
 * A module that makes the measured process print its peak memory, as reported by the operating system, when it ends.
 */
const REPORT_PEAK = `data:text/javascript,process.on('exit',()=>process.stderr.write('PEAK='+process.resourceUsage().maxRSS))`;

/** Runs a Node.js program as a process and measures it from start to end. */
export function measureProcess(args: readonly string[]): Promise<ProcessFigures> {
  return new Promise((resolve, reject) => {
    const start = performance.now();
    const child = spawn(process.execPath, ['--import', REPORT_PEAK, ...args], { timeout: 600_000 });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (data: Buffer) => (stdout += data.toString()));
    child.stderr.on('data', (data: Buffer) => (stderr += data.toString()));
    child.on('error', reject);
    child.on('close', (code) => {
      const seconds = (performance.now() - start) / 1000;
      if (code !== 0) reject(new Error(`exit code ${String(code)}: ${stderr}`));
      else resolve({ seconds, peakMib: Number(/PEAK=(\d+)/.exec(stderr)?.[1]) / 1024, stdout });
    });
  });
}

/** Returns the median of several measurements, which run one after another. */
export async function median<T>(runs: number, measure: () => Promise<T> | T, of: (figure: T) => number): Promise<T> {
  const figures: T[] = [];
  for (let run = 0; run < runs; run++) figures.push(await measure());
  return figures.sort((a, b) => of(a) - of(b))[Math.floor(runs / 2)] as T;
}
