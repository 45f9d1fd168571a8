import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';

import { DependencyError } from '../exceptions/index.ts';

/** The optional packages and their install commands. */
const INSTALL_COMMANDS = {
  '@clickhouse/client': 'npm install @clickhouse/client@1',
  '@duckdb/node-api': `npm install @duckdb/node-bindings-${process.platform}-${process.arch}@1.5.5-r.5`,
  '@resvg/resvg-js': 'npm install @resvg/resvg-js',
  '@tensorflow/tfjs-backend-webgpu': 'npm install webgpu@0.6.2 @tensorflow/tfjs-backend-webgpu@4.22.0',
  '@tensorflow/tfjs-node': 'npm install @tensorflow/tfjs-node@4.22.0',
  '@tensorflow/tfjs-node-gpu': 'npm install @tensorflow/tfjs-node-gpu@4.22.0',
  bullmq: 'npm install bullmq@6 ioredis@6',
  'danfojs-node': 'npm install danfojs-node@1.2.0',
  'gpt-tokenizer': 'npm install gpt-tokenizer@4',
  'hive-driver': 'npm install hive-driver@1',
  ioredis: 'npm install ioredis@6',
  kafkajs: 'npm install kafkajs@2',
  'onnxruntime-node': 'npm install onnxruntime-node@1',
  pg: 'npm install pg@8',
  'trino-client': 'npm install trino-client@0.2',
  webgpu: 'npm install webgpu@0.6.2 @tensorflow/tfjs-backend-webgpu@4.22.0',
} as const;

/** The name of an optional package. */
export type OptionalPackage = keyof typeof INSTALL_COMMANDS;

/** Returns the command that installs an optional package. */
export function installCommand(name: OptionalPackage): string {
  return INSTALL_COMMANDS[name];
}

/**
 * Runs an import that may fail because an optional package is not installed.
 * @param name the name of the package
 * @param neededFor the purpose of the package, such as "to draw plots"
 * @param load a function with an import of the literal package name, so that tools can find the import
 * @throws {DependencyError} if the import fails; the message contains the install command, and `cause` is the import
 *   error
 */
export async function importOptional<T>(name: OptionalPackage, neededFor: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    throw missing(name, neededFor, cause);
  }
}

/**
 * Returns the path of a file that the build writes. Threads and further processes run built files also if the caller
 * runs from the sources, as in tests, because a thread would need seconds to load the sources.
 * @param name the path within `dist`; in a checkout, `dist` is next to `src`. From a bundled file in `dist/cli`, the path
 *   is the same
 */
export function builtFile(name: string): string {
  return fileURLToPath(new URL(`${import.meta.url.endsWith('.ts') ? '../../dist' : '..'}/${name}`, import.meta.url));
}

function missing(name: OptionalPackage, neededFor: string, cause: unknown): DependencyError {
  return new DependencyError(`The package '${name}' is required ${neededFor}, but it cannot be loaded.`, {
    context: { package: name, reason: cause instanceof Error ? cause.message : String(cause) },
    suggestion: `Install it with: ${installCommand(name)}`,
    cause,
  });
}

/**
 * Reads a file of the package that is stored compressed, because the pages would take a tenth of the package otherwise.
 * @param name the path below the built files, without `.gz`
 */
export async function readCompressed(name: string): Promise<Buffer> {
  return promisify(gunzip)(await readFile(builtFile(`${name}.gz`)));
}
