import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { DataValidationError, FairnessToolkitError, ValueError } from '../../exceptions/index.ts';
import { assertKnownOptions, invalidParameter, type OptionNames } from '../../internal/arguments.ts';
import { decodeUtf8 } from '../../internal/decode-utf8.ts';
import { getLogger } from '../../internal/logger.ts';
import { assertWritable, writeFileAtomic } from '../../io/atomic-write.ts';
import type { Completion } from '../client/llm-client.ts';
import { completionFromJson, completionToJson } from './completion-json.ts';

/** Options of a {@link ResponseCache}. */
export interface ResponseCacheOptions {
  /** The folder of answers; it is made when the first is kept. */
  readonly cacheDir: string;
}

const RESPONSE_CACHE_OPTION_NAMES: OptionNames<ResponseCacheOptions> = { cacheDir: true };

/**
 * Answers that were paid for, kept in a folder: one JSON file an answer, at
 * `ab/abcd….json` after its {@link requestKey}, for the owner's eyes only (mode
 * 0600). A file is whole or not there, so that several processes may share the
 * folder. Prompts and secrets are not in it, errors are never kept. A new folder
 * gets a `.gitignore`, since answers do not belong into a repository.
 *
 * A file that is damaged, or was put there by something else, counts as a miss,
 * is told in the log, and is replaced when its answer comes again.
 * @throws {ValueError} for a cacheDir that is no path
 * @example
 * ```ts
 * import { mkdtempSync } from 'node:fs';
 * import { tmpdir } from 'node:os';
 * import path from 'node:path';
 * import { requestKey, ResponseCache } from 'evenhand/llm-evals';
 *
 * const cache = new ResponseCache({ cacheDir: path.join(mkdtempSync(path.join(tmpdir(), 'cache-')), 'answers') });
 * const key = requestKey({ provider: 'local', baseUrl: null, model: 'stub', prompt: 'Hello', params: {}, repeat: 0 });
 * console.log(await cache.get(key));
 * await cache.set(key, { text: 'Hello!', finishReason: 'stop', usage: null, cached: false, latencyMillis: 12 });
 * console.log((await cache.get(key))?.text, cache.hits, cache.misses);
 * // undefined
 * // Hello! 1 1
 * ```
 */
export class ResponseCache {
  readonly cacheDir: string;
  #hits = 0;
  #misses = 0;
  #kept = 0;
  #unkept = 0;
  #isReady = false;

  constructor(options: ResponseCacheOptions) {
    assertKnownOptions('ResponseCache', options, RESPONSE_CACHE_OPTION_NAMES);
    const { cacheDir } = options;
    if (typeof cacheDir !== 'string' || cacheDir === '' || cacheDir.includes('\0')) {
      throw invalidParameter(
        'cacheDir',
        'be the path of a folder',
        typeof cacheDir === 'string' ? 'none' : typeof cacheDir,
      );
    }
    this.cacheDir = path.resolve(cacheDir);
  }

  /** How often `get` found an answer. */
  get hits(): number {
    return this.#hits;
  }

  /** How often `get` found none. */
  get misses(): number {
    return this.#misses;
  }

  /** Answers that were kept. */
  get kept(): number {
    return this.#kept;
  }

  /** Answers that could not be kept, since the folder cannot be written. */
  get unkept(): number {
    return this.#unkept;
  }

  /**
   * A known answer, with `cached` true and the latency that it had; undefined where there is none.
   * @throws {ValueError} for a key that {@link requestKey} cannot have made
   */
  async get(key: string): Promise<Completion | undefined> {
    const found = await this.#read(key);
    if (found === undefined) this.#misses++;
    else this.#hits++;
    return found;
  }

  /**
   * Whether an answer is known. Counts neither as hit nor as miss.
   * @throws {ValueError} for a key that {@link requestKey} cannot have made
   */
  async has(key: string): Promise<boolean> {
    return (await this.#read(key)) !== undefined;
  }

  /**
   * Keeps an answer; one that is there already is replaced.
   * @throws {ValueError} for a key that {@link requestKey} cannot have made, or an answer without text
   * @throws {DataValidationError} where the folder cannot be written; only the first time, afterwards `unkept` counts on
   */
  async set(key: string, answer: Completion): Promise<void> {
    const file = this.#fileOf(key);
    const content = completionToJson(key, requireAnswer(answer));
    // What cannot be read back must not be kept.
    if (typeof completionFromJson(key, content) === 'string') throw noAnswer();
    try {
      await this.#makeReady();
      // Nobody else may look into the folder, so that the file is safe before its own mode is set.
      await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
      await writeFileAtomic(file, content);
      await chmod(file, 0o600);
      this.#kept++;
    } catch (cause) {
      if (this.#unkept++ === 0) throw this.#cannotKeep(cause);
    }
  }

  /**
   * Checks before anything is paid for that answers can be kept, leaving no trace.
   * @throws {DataValidationError} where the folder cannot be written or made
   */
  async assertWritable(): Promise<void> {
    try {
      await assertWritable(path.join(this.cacheDir, 'answer.json'));
    } catch (cause) {
      throw this.#cannotKeep(cause);
    }
  }

  async #read(key: string): Promise<Completion | undefined> {
    const file = this.#fileOf(key);
    let content: string;
    try {
      content = decodeUtf8(await readFile(file), 'it');
    } catch (cause) {
      const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
      if (FairnessToolkitError.isInstance(cause)) warn(file, cause.message);
      else if (code !== 'ENOENT' && code !== 'ENOTDIR') warn(file, `it cannot be read (${String(code)})`);
      return undefined;
    }
    const found = completionFromJson(key, content);
    if (typeof found !== 'string') return found;
    warn(file, found);
    return undefined;
  }

  /** Keys come from outside too: what is no digest could be a path to elsewhere. */
  #fileOf(key: string): string {
    if (typeof key !== 'string' || !/^[0-9a-f]{64}$/.test(key)) {
      throw invalidParameter(
        'key',
        'be a SHA-256 digest as 64 hexadecimal digits, as requestKey gives it',
        quoted(key),
      );
    }
    return path.join(this.cacheDir, key.slice(0, 2), `${key}.json`);
  }

  async #makeReady(): Promise<void> {
    if (this.#isReady) return;
    const isNew = (await mkdir(this.cacheDir, { recursive: true, mode: 0o700 })) !== undefined;
    // Another process may have been faster, with the same content.
    if (isNew) await writeFile(path.join(this.cacheDir, '.gitignore'), '*\n', { flag: 'wx' }).catch(() => undefined);
    this.#isReady = (await stat(this.cacheDir)).isDirectory();
  }

  #cannotKeep(cause: unknown): DataValidationError {
    const reason = cause instanceof Error ? cause.message : String(cause);
    return new DataValidationError(`Answers cannot be kept in the cache '${this.cacheDir}': ${reason}`, {
      context: { path: this.cacheDir },
      suggestion: 'Make room there, name another cache_dir, or keep the answers in a file with --transcripts-out.',
      cause,
    });
  }
}

function requireAnswer(answer: unknown): Completion {
  if (typeof answer === 'object' && answer !== null && 'usage' in answer) return answer as Completion;
  throw noAnswer();
}

function noAnswer(): ValueError {
  return new ValueError('The answer parameter must be a completion with text, finishReason, usage and latencyMillis.', {
    context: { parameter: 'answer' },
    suggestion: 'Keep answers only; errors are asked again.',
  });
}

function quoted(key: unknown): string {
  return typeof key === 'string' ? `'${key.slice(0, 80)}'` : typeof key;
}

function warn(file: string, reason: string): void {
  getLogger().warn(`The cache file '${file}' is passed over: ${reason}. It is replaced when its answer comes again.`);
}
