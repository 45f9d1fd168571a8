import type { Command } from 'commander';

import { VERSION } from '../../internal/version.ts';
import { defineCommand } from '../define-command.ts';
import { print } from '../output.ts';

/** Returns the command `evenhand version`. */
export function versionCommand(): Command {
  return defineCommand({
    name: 'version',
    // eslint-disable-next-line @typescript-eslint/require-await -- every command is asynchronous
    async run({ json }) {
      print(json === true ? JSON.stringify({ version: VERSION, node: process.versions.node }) : VERSION);
    },
  });
}
