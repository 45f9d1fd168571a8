import type { Contrast } from './contrast.ts';
import { formatShare, formatStatistic } from './report-numbers.ts';

/** A contrast in words: "'Wife' from 0.0% (Male) to 14.6% (Female)", "mean from 36.4 (Female) to 42.4 (Male)". */
export function contrastPhrase({ level, lowest, highest }: Contrast): string {
  const format = level === null ? formatStatistic : formatShare;
  const what = level === null ? 'mean' : `'${level}'`;
  return `${what} from ${format(lowest.value)} (${lowest.group}) to ${format(highest.value)} (${highest.group})`;
}
