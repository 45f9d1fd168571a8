import type { DecimalSeparator, FoundFiles } from '../schemas/data-source.ts';

/** The path that stands for stdin. */
const STDIN = '-';

/** The maximum number of bytes that are read from stdin. */
const MAX_BYTES = 16 * 1024 ** 3;

/** The files of each input option, by the name of its field. */
export type InputFiles = Readonly<Record<string, FoundFiles>>;

/**
 * Finds the files for all input options, and runs the given work with them. The rows of stdin are written to a private
 * temporary file, since DuckDB reads a file several times. The file is removed afterwards, also at Ctrl-C or SIGTERM.
 * @param paths the paths of each input option, by the name of its field
 */
export async function withInputFiles(
  paths: Readonly<Record<string, readonly string[]>>,
  decimal: DecimalSeparator | undefined,
  work: (inputs: InputFiles) => Promise<void>,
): Promise<void> {
  const { findFiles } = await import('../io/find-files.ts');
  const isStdin = Object.values(paths).flat().includes(STDIN);
  if (isStdin) await assertStdin(Object.values(paths).flat());
  const spooled = isStdin ? await spoolStdin() : undefined;
  try {
    const inputs: Record<string, FoundFiles> = {};
    for (const [field, named] of Object.entries(paths)) {
      const found = await findFiles({
        paths: named.map((path) => (path === STDIN ? (spooled?.path ?? path) : path)),
        decimal,
      });
      inputs[field] = spooled === undefined ? found : nameStdin(found, named, spooled.path);
    }
    await work(inputs);
  } finally {
    await spooled?.remove();
  }
}

async function spoolStdin(): ReturnType<typeof import('../io/temporary-file.ts').writeTemporaryFile> {
  const { writeTemporaryFile } = await import('../io/temporary-file.ts');
  return writeTemporaryFile(process.stdin, { name: 'stdin', maxBytes: MAX_BYTES });
}

async function assertStdin(paths: readonly string[]): Promise<void> {
  const isRepeated = paths.filter((path) => path === STDIN).length > 1;
  if (!isRepeated && !process.stdin.isTTY) return;
  const { DataValidationError } = await import('../exceptions/index.ts');
  throw isRepeated
    ? new DataValidationError("'-' (stdin) is given twice, but stdin can be read only once.", {
        suggestion: "Give '-' only once, and give the other rows as a file.",
      })
    : new DataValidationError("'-' reads the rows from stdin, but stdin is a terminal.", {
        code: 'empty-data',
        suggestion: 'Pipe rows to stdin, or give the path of a file.',
      });
}

/** Replaces the name of the temporary file by `stdin` in a list of files. */
function nameStdin({ files, title, ...found }: FoundFiles, paths: readonly string[], spooled: string): FoundFiles {
  return {
    ...found,
    paths,
    files: files.map((file) => (file.path === spooled ? { ...file, name: 'stdin' } : file)),
    title: paths.length === 1 && paths[0] === STDIN ? 'stdin' : title.replace(`'${spooled}'`, 'stdin'),
  };
}
