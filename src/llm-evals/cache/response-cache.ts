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
  /** The folder of the cached answers. The folder is created when the first answer is saved. */
  readonly cacheDir: string;
}

const RESPONSE_CACHE_OPTION_NAMES: OptionNames<ResponseCacheOptions> = { cacheDir: true };

/**
 * A folder of cached answers with one JSON file per answer. The path of a file, `ab/abcd….json`, is derived from the
 * answer's {@link requestKey}. Only the owner can read the files (mode 0600). Files are written atomically, so several
 * processes can share the folder. The files contain no prompts and no secrets. Errors are not cached. A new folder gets
 * a `.gitignore` file, because answers do not belong in a repository.
 *
 * A damaged or unrelated file counts as a cache miss. Such a file is reported in the log, and the next answer for its
 * key replaces it.
 * @throws {ValueError} if cacheDir is not a path
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

  /** The number of calls of `get` that have found an answer. */
  get hits(): number {
    return this.#hits;
  }

  /** The number of calls of `get` that have found no answer. */
  get misses(): number {
    return this.#misses;
  }

  /** The number of answers that were saved. */
  get kept(): number {
    return this.#kept;
  }

  /** The number of answers that were not saved because the folder cannot be written. */
  get unkept(): number {
    return this.#unkept;
  }

  /**
   * Returns the cached answer for a key. Its field `cached` is true, and its latency is that of the original request.
   * Returns undefined if there is no cached answer for the key.
   * @throws {ValueError} if the key was not created by {@link requestKey}
   */
  async get(key: string): Promise<Completion | undefined> {
    const found = await this.#read(key);
    if (found === undefined) this.#misses++;
    else this.#hits++;
    return found;
  }

  /**
   * Returns whether there is a cached answer for a key. The call does not count as a hit or a miss.
   * @throws {ValueError} if the key was not created by {@link requestKey}
   */
  async has(key: string): Promise<boolean> {
    return (await this.#read(key)) !== undefined;
  }

  /**
   * Saves an answer. Replaces an existing answer for the same key.
   * @throws {ValueError} if the key was not created by {@link requestKey}, or the answer has no text
   * @throws {DataValidationError} if the folder cannot be written. Only the first failure throws; later failures are
   * counted in `unkept`
   */
  async set(key: string, answer: Completion): Promise<void> {
    const file = this.#fileOf(key);
    const content = completionToJson(key, requireAnswer(answer));
    // An answer that cannot be read back must not be saved.
    if (typeof completionFromJson(key, content) === 'string') throw noAnswer();
    try {
      await this.#makeReady();
      // The mode of the folder protects the file until the mode of the file itself is set.
      await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
      await writeFileAtomic(file, content);
      await chmod(file, 0o600);
      this.#kept++;
    } catch (cause) {
      if (this.#unkept++ === 0) throw this.#cannotKeep(cause);
    }
  }

  /**
   * Checks that answers can be saved, before any request costs money. Leaves no files behind.
   * @throws {DataValidationError} if the folder cannot be written or created
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

  /**
   * Returns the path of the file for a key. Rejects keys that are not digests, because the path of another key could be
   * outside the folder.
   */
  #fileOf(key: string): string {
    if (typeof key !== 'string' || !/^[0-9a-f]{64}$/.test(key)) {
      throw invalidParameter(
        'key',
        'be a SHA-256 digest as 64 hexadecimal digits, as returned by requestKey',
        quoted(key),
      );
    }
    return path.join(this.cacheDir, key.slice(0, 2), `${key}.json`);
  }

  async #makeReady(): Promise<void> {
    if (this.#isReady) return;
    const isNew = (await mkdir(this.cacheDir, { recursive: true, mode: 0o700 })) !== undefined;
    // Another process may have written the same content already.
    if (isNew) await writeFile(path.join(this.cacheDir, '.gitignore'), '*\n', { flag: 'wx' }).catch(() => undefined);
    this.#isReady = (await stat(this.cacheDir)).isDirectory();
  }

  #cannotKeep(cause: unknown): DataValidationError {
    const reason = cause instanceof Error ? cause.message : String(cause);
    return new DataValidationError(`Answers cannot be saved in the cache '${this.cacheDir}': ${reason}`, {
      code: 'unwritable-file',
      context: { path: this.cacheDir },
      suggestion: 'Free disk space, set another cache_dir, or save the answers to a file with --transcripts-out.',
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
    suggestion: 'Save answers only; requests that failed are sent again.',
  });
}

function quoted(key: unknown): string {
  return typeof key === 'string' ? `'${key.slice(0, 80)}'` : typeof key;
}

function warn(file: string, reason: string): void {
  getLogger().warn(`The cache file '${file}' is ignored: ${reason}. It is replaced by the next answer for its key.`);
}
