import path from 'node:path';

import { z } from 'zod';

import { DataValidationError } from '../../exceptions/index.ts';
import { invalidParameter } from '../../internal/invalid-parameter.ts';
import { SWEEP_KIND } from './model-card.ts';
import { networkFolder } from './network-folder.ts';

const sweep = z.object({ kind: z.literal(SWEEP_KIND), networks: z.array(z.string()) });

/**
 * The folder, inside a sweep's, of the network for an eta.
 * @param card what the folder's card holds
 * @returns undefined where the folder is no sweep's
 * @throws {DataValidationError} listing the networks, where none or an unknown one was named
 * @throws {ValueError} for an eta where there is no sweep
 */
export function openSweep(folder: string, card: unknown, eta: number | undefined): string | undefined {
  const parsed = sweep.safeParse(card);
  if (!parsed.success) {
    if (eta === undefined) return undefined;
    throw invalidParameter('eta', `be left out: '${folder}' holds no sweep`, eta);
  }
  const { networks } = parsed.data;
  const wanted = eta === undefined ? undefined : networkFolder(eta);
  if (wanted !== undefined && networks.includes(wanted)) return wanted;
  const first = networks[0] ?? networkFolder(0);
  throw new DataValidationError(
    `'${folder}' holds a sweep of ${String(networks.length)} networks${eta === undefined ? '' : `, none of them for eta ${String(eta)}`}: ${networks.slice(0, 16).join(', ')}${networks.length > 16 ? ', …' : ''}.`,
    {
      context: { path: folder, networks },
      suggestion: `Name one of them: eta (--eta ${first.replace(/^eta-/, '')}), or the folder ${path.join(folder, first)}.`,
    },
  );
}
