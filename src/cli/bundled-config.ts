import { existsSync, readdirSync } from 'node:fs';
import { join, normalize, parse } from 'node:path';

import { builtFile } from '../internal/packages.ts';
import { type OutputOptions, remark } from './output.ts';

/**
 * Returns the path of the configuration for the value of `--config`. An existing file of the user always takes
 * precedence. Otherwise, `adult`, `adult.yml` and `config/adult.yml` name a configuration that comes with the package,
 * and a remark is printed. Any other name is returned unchanged.
 */
export function findConfig(given: string, options: OutputOptions): string {
  if (existsSync(given)) return given;
  const { dir, name, ext } = parse(normalize(given));
  const file = `${name}.yml`;
  if (!['', 'config'].includes(dir) || !['', '.yml'].includes(ext) || !bundledNames().includes(file)) return given;
  const own = [file, join('config', file)].find((path) => existsSync(path));
  const origin = own === undefined ? ', which comes with evenhand' : '';
  const path = own ?? builtFile(join('..', 'config', file));
  remark(`Using ${path}${origin}, because there is no file '${given}' here.`, options);
  return path;
}

function bundledNames(): string[] {
  return readdirSync(builtFile(join('..', 'config')));
}
