import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** The folder of the reference vectors and data, if available. */
const folder = process.env['EVENHAND_REFERENCE_DIR'];

/**
 * Describes a suite that needs reference data. Without them it is skipped with the reason, or fails if they are
 * required.
 */
export function describeWithReference(title: string, suite: () => void): void {
  if (folder !== undefined && existsSync(folder)) {
    describe(title, suite);
    return;
  }
  describe(title, () => {
    it('needs the reference data: EVENHAND_REFERENCE_DIR is not set', function () {
      if (process.env['EVENHAND_REQUIRE_REFERENCE'] === '1') {
        throw new Error('EVENHAND_REQUIRE_REFERENCE is 1, but EVENHAND_REFERENCE_DIR names no folder');
      }
      this.skip();
    });
  });
}

/** Returns the path of a reference file. */
export function referencePath(...parts: string[]): string {
  return path.resolve(folder ?? '.', ...parts);
}

/** Reads a file of reference vectors; the caller knows its format. */
export function readVectors(name: string): unknown {
  return JSON.parse(readFileSync(referencePath('vectors', name), 'utf8'));
}
