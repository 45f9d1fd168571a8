import { Command } from 'commander';

import { VERSION } from '../../internal/version.ts';
import { type OutputOptions, print, withOutputOptions } from '../output.ts';

/** Returns the command `evenhand version`. */
export function versionCommand(): Command {
  return withOutputOptions(new Command('version').description('Print the version.')).action(
    (options: OutputOptions) => {
      print(options.json === true ? JSON.stringify({ version: VERSION, node: process.versions.node }) : VERSION);
    },
  );
}
