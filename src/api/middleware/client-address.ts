import { isIPv6 } from 'node:net';

/**
 * The address that requests are counted by. Of IPv6 the first 64 bits, since one household has all that begin with them;
 * an IPv4 address in IPv6's clothes is that IPv4 address.
 */
export function clientAddress(remote: string | undefined): string {
  if (remote === undefined) return 'unknown';
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(remote)?.[1];
  if (mapped !== undefined) return mapped;
  return isIPv6(remote) ? networkOf(remote) : remote;
}

function networkOf(address: string): string {
  const [before = '', after = ''] = address.toLowerCase().replace(/%.*$/, '').split('::', 2);
  const first = groupsOf(before);
  const last = groupsOf(after);
  const groups = [...first, ...Array<string>(Math.max(0, 8 - first.length - last.length)).fill('0'), ...last];
  return `${groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')}::/64`;
}

function groupsOf(text: string): string[] {
  return text === '' ? [] : text.split(':');
}
