import type { OnProgress } from './data-source.ts';
import { problemOf } from './open-source.ts';
import type { Answer, Request } from './protocol.ts';
import { Session } from './session.ts';

/** The scope of a worker, of which the declarations of pages have another. */
interface WorkerScope {
  onmessage: ((event: MessageEvent<Request>) => void) | null;
  postMessage(message: Answer): void;
}

const scope = globalThis as unknown as WorkerScope;
const session = new Session();

scope.onmessage = ({ data: request }) => {
  void answer(request);
};

async function answer(request: Request): Promise<void> {
  const { id } = request;
  let last = 0;
  const onProgress: OnProgress = (stage, done, total) => {
    // A message for each part of a file would be too many for the page.
    const now = performance.now();
    if (now - last < 60 && done > 0) return;
    last = now;
    scope.postMessage({ id, kind: 'progress', stage, done, total });
  };
  try {
    scope.postMessage({ id, kind: 'value', value: await run(request, onProgress) });
  } catch (error) {
    scope.postMessage({ id, kind: 'problem', problem: problemOf(error) });
  }
}

function run(request: Request, onProgress: OnProgress): unknown {
  switch (request.name) {
    case 'open':
      return session.open(...request.args);
    case 'openSample':
      return session.openSample(...request.args);
    case 'labels':
      return session.labels(...request.args, onProgress);
    case 'audit':
      return session.audit(request.args[0], request.args[1], onProgress);
    case 'draw':
      return session.draw(...request.args);
    case 'threshold':
      return session.threshold(...request.args, onProgress);
    case 'export':
      return session.export(...request.args);
    case 'file':
      return session.file();
    case 'features':
      return session.features(...request.args);
    case 'compareResults':
      return session.compareResults(...request.args);
    case 'pareto':
      return session.pareto(...request.args);
  }
}
