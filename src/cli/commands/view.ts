import { existsSync, statSync } from 'node:fs';
import path from 'node:path';

import { Argument, type Command } from 'commander';

import { defineCommand } from '../define-command.ts';
import { type OutputOptions, print } from '../output.ts';
import { endSoon, prepareServiceLogs, stopAtSignals } from '../stoppable.ts';
import type { ViewRequest } from '../../schemas/view.ts';

/** A running server, and the address of its page. */
interface RunningView {
  readonly url: string;
  readonly isReport?: boolean | undefined;
  readonly done: Promise<void>;
  stop(): Promise<void>;
}

interface ViewOptions extends OutputOptions {
  readonly port?: number;
  readonly open?: boolean;
}

/** Returns the command `evenhand view [FILE|FOLDER]`. */
export function viewCommand(): Command {
  return defineCommand<ViewOptions, ViewRequest>({
    name: 'view',
    isOpenEnded: true,
    options: `
--port <n>  port to listen on (default: any free port)
--open  open the page in the browser of this machine`,
    schema: async () => (await import('../../schemas/view.ts')).viewSchema,
    help: `
Examples:
  $ evenhand view decisions.csv --open
  $ evenhand view

  The report of an evaluation of language models (llm-eval --report-html or --report-json), or a folder of them:
  $ evenhand view comparison.json --open

  The results that a service has stored (evenhand serve --store runs):
  $ evenhand view runs --open

The page reads CSV, Parquet and JSON lines. All work is done in the browser: the program only hands it the page and
the file. It listens on 127.0.0.1, and its address contains a secret, so that other users of this machine cannot open
the file. Ctrl-C ends it.
For a folder of results, it starts the service on 127.0.0.1 with that folder, which no other service may use.
Exit codes: 0 ended, 2 invalid options, no such file or a port in use, 130 ended at once.`,
    prepare: prepareServiceLogs,
    run,
  }).addArgument(
    new Argument(
      '[path]',
      'file to audit (CSV, TSV, also .gz, Parquet or JSON lines), report of llm-eval, or folder of reports or of results of a service',
    ),
  );
}

function isFolder(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Starts a server for a folder of reports, or a service on a folder of results. Returns the address of their page. */
async function viewFolder(folder: string, port: number): Promise<RunningView> {
  if (!existsSync(path.join(folder, 'files'))) {
    const [{ startView }, { reportsIn }] = await Promise.all([
      import('../view-server.ts'),
      import('../report-pages.ts'),
    ]);
    const pages = await reportsIn(folder);
    if (pages.size > 0) return startView({ pages, port });

    const { DataValidationError } = await import('../../exceptions/index.ts');
    throw new DataValidationError(
      `Cannot show '${folder}': it is not a folder of results, and has no reports of evaluations.`,
      {
        code: 'unreadable-file',
        context: { path: folder },
        suggestion: 'Give a file, a folder with reports of llm-eval, or the folder of evenhand serve --store.',
      },
    );
  }
  const { startOnStore } = await import('./serve.ts');
  const service = await startOnStore(folder, port);
  return { url: `${service.url}/#results`, done: service.done, stop: () => service.stop() };
}

async function viewFile(file: string | undefined, port: number): Promise<RunningView> {
  const [{ startView }, { reportOf }] = await Promise.all([import('../view-server.ts'), import('../report-pages.ts')]);
  const page = file === undefined ? undefined : await reportOf(file);
  if (file === undefined || page === undefined) return startView({ file, port });
  return startView({ file, pages: new Map([[path.basename(file), page]]), port });
}

async function run(options: ViewOptions, { port, open }: ViewRequest, [file]: readonly string[]): Promise<void> {
  const { openInBrowser } = await import('../open-browser.ts');
  const view = file !== undefined && isFolder(file) ? await viewFolder(file, port) : await viewFile(file, port);
  const release = stopAtSignals(() => view.stop(), 'the page stays usable until you close it.', options);
  if (options.json === true) process.stdout.write(`${JSON.stringify({ url: view.url, pid: process.pid })}\n`);
  else print(`The ${view.isReport === true ? 'report' : 'workbench'} is at ${view.url} (stop with Ctrl-C)`);
  if (open) openInBrowser(view.url);
  try {
    await view.done;
  } finally {
    release();
    endSoon();
  }
}
