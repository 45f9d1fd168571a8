/** Matches arguments that a shell does not change. */
const PLAIN = /^[\w@%+:,./-][\w@%+=:,./-]*$/;

/** Returns the command line for arguments of `evenhand`, quoted for a POSIX shell. */
export function shellCommand(args: readonly string[]): string {
  return ['evenhand', ...args.map(quoteArgument)].join(' ');
}

function quoteArgument(argument: string): string {
  return PLAIN.test(argument) ? argument : `'${argument.replaceAll("'", String.raw`'\''`)}'`;
}
