import { statSync } from 'node:fs';

import type { Logger } from 'pino';

import { DataValidationError } from '../../exceptions/index.ts';
import type { AppOptions } from './app-options.ts';

/**
 * Looks at the folders that a service reads, before it begins. A monitor's may be made later, which is told as a warning.
 * @throws {DataValidationError} for what is no folder, and for an `llmFolder` that is not there
 */
export function checkFolders({ monitorFolder, llmFolder }: AppOptions, logger: Logger): void {
  if (monitorFolder !== undefined && !isFolder(monitorFolder, 'monitorFolder')) {
    logger.warn(
      `There is no folder '${monitorFolder}' yet: /dashboard is empty until 'evenhand monitor --output-dir' writes it.`,
    );
  }
  if (llmFolder === undefined || isFolder(llmFolder, 'llmFolder')) return;
  throw new DataValidationError(`The folder '${llmFolder}', which files of /llm-eval may come from, is not there.`, {
    context: { parameter: 'llmFolder', path: llmFolder },
    suggestion: 'Make it, or name another.',
  });
}

/** @throws {DataValidationError} for something else than a folder, or what may not be looked at */
function isFolder(place: string, parameter: string): boolean {
  try {
    if (statSync(place).isDirectory()) return true;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') return false;
    throw noFolder(place, parameter, `cannot be used: the system says ${String(code)}`, cause);
  }
  throw noFolder(place, parameter, 'is no folder');
}

function noFolder(place: string, parameter: string, fault: string, cause?: unknown): DataValidationError {
  return new DataValidationError(`'${place}' ${fault}.`, {
    context: { parameter, path: place },
    suggestion: 'Name a folder.',
    cause,
  });
}
