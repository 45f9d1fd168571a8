import { spawn } from 'node:child_process';

import { warn } from './output.ts';

/** The program that opens an address, by platform. */
const PROGRAMS: Readonly<Partial<Record<NodeJS.Platform, readonly [program: string, ...args: string[]]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Opens an address in the browser of this machine. If there is no browser, a warning says so. */
export function openInBrowser(url: string): void {
  const [program, ...args] = PROGRAMS[process.platform] ?? ['xdg-open'];
  const child = spawn(program, [...args, url], { stdio: 'ignore', detached: true });
  child.on('error', () => {
    warn(`No browser was opened: the program ${program} cannot be started. Open the address yourself.`);
  });
  child.unref();
}
