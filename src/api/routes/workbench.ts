import { workbenchFile, workbenchPage } from '../../io/workbench-files.ts';
import type { Handler, Service } from '../context/service-context.ts';
import { ServiceProblem } from '../problem/service-problem.ts';

/** The paths of the workbench: its page, and the files of the page. */
export const WORKBENCH_PATHS = ['/', '/icon.svg', '/assets/:file'] as const;

/** Handles GET / and the files of this page: the workbench, which does all its work in the browser. */
export function workbenchHandler({ basePath, keys }: Service): Handler {
  const key = keys.length === 0 ? '' : ' data-key="needed"';
  return async (context) => {
    // The path may start with the path at which the app is mounted.
    const name = /(?:^|\/)((?:assets\/)?[^/]*)$/.exec(context.path)?.[1] ?? '';
    const { html, policy } = await workbenchPage('service');
    // A worker has the policy of its script, not that of the page.
    context.set('Content-Security-Policy', policy);
    if (name === '') {
      context.set('Cache-Control', 'no-cache');
      context.type = 'text/html; charset=utf-8';
      // Without a base path, links are relative, because a proxy may serve the app under any path.
      const base = basePath === '' ? '' : ` data-base="${basePath}"`;
      const page = html.replace('<html', `<html${key}${base}`);
      context.body = basePath === '' ? page : page.replaceAll('"./', `"${basePath}/`);
      return;
    }
    const file = await workbenchFile(name);
    if (file === undefined) {
      throw new ServiceProblem(404, { detail: 'The file does not exist.', suggestion: 'Reload the page.' });
    }
    context.set('Cache-Control', file.isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache');
    context.type = file.mediaType;
    context.body = file.bytes;
  };
}
