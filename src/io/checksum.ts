import { createHash } from 'node:crypto';
import { open, stat } from 'node:fs/promises';

import { DataValidationError } from '../exceptions/index.ts';
import { getLogger } from '../internal/logger.ts';

/**
 * Matches the last member of a JSON object if it looks like a checksum. It does not match the name, so that a file with
 * a damaged name does not count as a file without a checksum.
 */
const LAST_MEMBER = /,\s*"([^"]{6})"\s*:\s*"([^"]{64})"\s*\}\s*$/;

/** The number of characters at the end of a file that contain its last member. */
const TAIL_LENGTH = 256;

const NAME = 'sha256';

/** The text of a JSON file after its checksum was verified. */
export interface CheckedText {
  /** The JSON object without its checksum. */
  readonly text: string;
  /** Whether the file has a checksum; files of earlier versions have none. */
  readonly hasChecksum: boolean;
}

/** Returns the SHA-256 of the content of a file, in hexadecimal digits. */
export function checksumOf(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/** An input file of a report. */
export interface InputFile {
  readonly path: string;
  /** The size; null if it is not a regular file. */
  readonly bytes: number | null;
  /** The SHA-256 in hexadecimal digits; null if it is not a regular file. */
  readonly sha256: string | null;
}

/** The bytes that are hashed in one step. */
const CHUNK_BYTES = 512 * 1024;

/** Computes the SHA-256 of a file without loading it. A pipe or device is not opened, because it can be read only once. */
export async function hashInputFile(path: string): Promise<InputFile> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile() !== true) return { path, bytes: null, sha256: null };
  const hash = createHash('sha256');
  let bytes = 0;
  const file = await open(path);
  try {
    // A stream would allocate memory for each chunk.
    const chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
    for (;;) {
      const { bytesRead } = await file.read(chunk);
      if (bytesRead === 0) return { path, bytes, sha256: hash.digest('hex') };
      hash.update(chunk.subarray(0, bytesRead));
      bytes += bytesRead;
    }
  } finally {
    await file.close();
  }
}

/**
 * Adds a last member `sha256` to the text of a JSON object. It is the SHA-256 of the bytes before it, without the comma
 * and white space in between. {@link checkJsonText} verifies it.
 * @param json a JSON object with at least one member, as text
 */
export function withChecksum(json: string): string {
  const end = json.lastIndexOf('}');
  const content = json.slice(0, end).trimEnd();
  const space = json.slice(content.length, end);
  const [before, between] = space === '' ? ['', ''] : [`${space}  `, ' '];
  return `${content},${before}"${NAME}":${between}"${checksumOf(content)}"${space}}\n`;
}

/**
 * Verifies the checksum that {@link withChecksum} added to a JSON file.
 * @param path the path of the file, for the message
 * @throws {DataValidationError} if the checksum does not match the content
 */
export function checkJsonText(text: string, path: string): CheckedText {
  const tail = Math.max(0, text.length - TAIL_LENGTH);
  const match = LAST_MEMBER.exec(text.slice(tail));
  if (match === null) return { text, hasChecksum: false };
  const [, name = '', expected = ''] = match;
  const content = text.slice(0, tail + match.index);
  const found = checksumOf(content);
  if (name !== NAME || found !== expected) {
    throw damaged(path, expected, found, `; to use a file that you edited on purpose, remove its ${NAME} member`);
  }
  return { text: `${content}}`, hasChecksum: true };
}

/**
 * Compares the SHA-256 of a file with the one recorded when it was written.
 * @throws {DataValidationError} if they differ; the error names the file, both checksums, and a fix
 */
export function checkFile(content: Uint8Array, expected: string, path: string): void {
  const found = checksumOf(content);
  if (found !== expected) throw damaged(path, expected, found);
}

/**
 * Logs a warning for a file, or for files in a folder, without a checksum, since damage cannot be detected.
 * @param files the number of files in the folder; undefined for a single file
 */
export function warnOfNoChecksum(path: string, files?: number): void {
  const subject =
    files === undefined
      ? `'${path}' has no checksum; it was written by an earlier version.`
      : `${String(files)} ${files === 1 ? 'file in' : 'files in'} '${path}' ${files === 1 ? 'has' : 'have'} no checksum; written by an earlier version.`;
  getLogger().warn(`${subject} Damage to the content cannot be detected.`);
}

function damaged(path: string, expected: string, found: string, hint = ''): DataValidationError {
  return new DataValidationError(
    `'${path}' is damaged or was edited: its SHA-256 should be ${expected}. Got ${found} instead.`,
    {
      code: 'invalid-state',
      context: { path, expected, received: found, problem: 'checksum' },
      suggestion: `Restore the file from a backup, or save it again${hint}.`,
    },
  );
}
