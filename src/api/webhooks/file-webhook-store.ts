import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';

import type { Logger } from 'pino';
import { z } from 'zod';

import { decodeUtf8 } from '../../internal/decode-utf8.ts';
import { writeFileAtomic } from '../../io/atomic-write.ts';
import { noRoomProblem, unavailable } from '../problem/service-problem.ts';
import { entryInFileText, fileNameOf, fileTextOf, idOfFileName } from '../store/stored-file.ts';
import type { DueWebhook, WebhookStore } from './webhook-deliveries.ts';

/** A webhook as it is stored. */
export const dueWebhookSchema = z.object({ runId: z.string(), url: z.url(), delivery: z.string() });

/** The webhooks of a service with a store: one file for each, in a folder that only this process uses. */
export class FileWebhookStore implements WebhookStore {
  readonly takeMillis = undefined;
  readonly #folder: string;
  readonly #logger: Pick<Logger, 'warn'>;

  constructor(folder: string, logger: Pick<Logger, 'warn'>) {
    this.#folder = folder;
    this.#logger = logger;
  }

  async add(due: DueWebhook): Promise<void> {
    try {
      await mkdir(this.#folder, { recursive: true });
      await writeFileAtomic(this.#fileOf(due), fileTextOf(due.runId, due) ?? '');
    } catch (error) {
      this.#logger.warn({ err: error }, 'a webhook cannot be stored');
      throw noRoomProblem(error, 'webhooks') ?? unavailable('The webhook could not be stored.', 'Send it later.', 5);
    }
  }

  async remove(due: DueWebhook): Promise<void> {
    await rm(this.#fileOf(due), { force: true });
  }

  async take(): Promise<readonly DueWebhook[]> {
    const found: DueWebhook[] = [];
    await mkdir(this.#folder, { recursive: true });
    for (const name of await readdir(this.#folder)) {
      const runId = idOfFileName(name);
      if (runId === undefined) continue;
      const file = path.join(this.#folder, name);
      const entry = entryInFileText(runId, decodeUtf8(await readFile(file), file), file);
      const due = dueWebhookSchema.safeParse(entry !== undefined && 'value' in entry ? entry.value : undefined);
      if (due.success) found.push(due.data);
      else this.#logger.warn({ path: file }, 'a stored webhook is damaged, and is not delivered');
    }
    return found;
  }

  #fileOf({ runId }: DueWebhook): string {
    return path.join(this.#folder, fileNameOf(runId));
  }
}
