import { mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';

import type { Logger } from 'pino';

import { unknownRun } from '../problem/run-problems.ts';
import { isSafeId } from '../store/result-store.ts';

/** The default format of run IDs. Folders with other names may belong to other programs. */
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The folders of runs' files, `<filesFolder>/<runId>`, and the folders of their uploads. */
export class RunFolders {
  readonly #filesFolder: string;
  readonly #logger: Logger;
  readonly #inputs = new Set<string>();

  constructor(filesFolder: string, logger: Logger) {
    this.#filesFolder = path.resolve(filesFolder);
    this.#logger = logger;
  }

  /** @throws {ServiceProblem} 404 if the ID would lead to another folder */
  pathOf(runId: string): string {
    if (!isSafeId(runId)) throw unknownRun(runId);
    return path.join(this.#filesFolder, runId);
  }

  async make(runId: string): Promise<void> {
    await mkdir(this.pathOf(runId), { recursive: true });
  }

  async remove(runId: string): Promise<void> {
    await this.#removeFolder(this.pathOf(runId));
  }

  /** Registers a folder with an upload as part of a run, until it is removed. */
  addInput(folder: string): void {
    this.#inputs.add(path.resolve(folder));
  }

  hasInput(folder: string): boolean {
    return this.#inputs.has(path.resolve(folder));
  }

  async removeInput(folder: string): Promise<void> {
    await this.#removeFolder(folder);
    this.#inputs.delete(path.resolve(folder));
  }

  /** Removes a folder and its content. Failures are logged. */
  async #removeFolder(folder: string): Promise<void> {
    await rm(folder, { recursive: true, force: true, maxRetries: 2 }).catch((error: unknown) => {
      this.#logger.warn({ err: error, folder }, 'a folder cannot be removed');
    });
  }

  /** Creates the parent folder, and removes folders of unknown runs from it. */
  async start(isKnown: (runId: string) => Promise<boolean>): Promise<void> {
    await mkdir(this.#filesFolder, { recursive: true });
    const listed = await readdir(this.#filesFolder, { withFileTypes: true });
    const left = listed.filter((one) => one.isDirectory() && UUID.test(one.name));
    for (const { name } of left) if (!(await isKnown(name))) await this.remove(name);
  }
}
