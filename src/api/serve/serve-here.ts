import { createOwner } from '../app/create-owner.ts';
import { cannotListen } from './address.ts';
import { createListeningApp } from './listening-app.ts';
import { createRunningService } from './running-service.ts';
import type { FilledServeOptions, RunningService } from './serve-options.ts';

/** The service in this process alone. */
export async function serveHere(options: FilledServeOptions): Promise<RunningService> {
  const { host, drainMillis } = options;
  const owner = await createOwner(options);
  const { runs, limiter, spoolFolder } = owner;
  try {
    const app = createListeningApp(options, { runs, limiter, spoolFolder, workerName: '1' });
    const port = await app.server.listen(options).catch((cause: unknown) => {
      throw cannotListen(host, options.port, cause);
    });
    const ending = {
      drain: () => app.drain(),
      closeRuns: (millis: number) => owner.close(millis),
      end: app.server.end,
    };
    return createRunningService({ host, port, workers: 1, drainMillis, ending });
  } catch (error) {
    await owner.close(0);
    throw error;
  }
}
