import { existsSync } from 'node:fs';
import path from 'node:path';

import { runCli } from './run-cli.ts';

/** The options of training commands for the sample of wages. */
export const WAGES = [
  '--target',
  'wage_above_median',
  '--sensitive',
  'gender',
  '--features',
  'education,experience,union',
];

/** Writes the sample of wages into a folder, once. */
export async function makeWages(folder: string): Promise<string> {
  const file = path.join(folder, 'wages.csv');
  if (!existsSync(file)) await runCli(['sample-data', 'cps-wages', '--out', file]);
  return file;
}
