import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

import ts from 'typescript';

const root = path.resolve(import.meta.dirname, '../..');

/** An entry point of the package: `evenhand/metrics`, with the names that it exports. */
export interface EntryPoint {
  readonly name: string;
  /** The name of the files about it: `metrics`, `stats-bootstrap`, or `evenhand` for the package itself. */
  readonly file: string;
  readonly exports: ReadonlyMap<string, ts.Symbol>;
}

/** The entry points, with what is needed to describe their declarations. */
export interface EntryPoints {
  readonly points: readonly EntryPoint[];
  readonly checker: ts.TypeChecker;
  /** Returns the entry point that describes a symbol; undefined if no entry point exports the symbol. */
  readonly homeOf: (symbol: ts.Symbol) => EntryPoint | undefined;
  /** Returns whether a file belongs to the package, not to one of its dependencies. */
  readonly isOwn: (file: ts.SourceFile) => boolean;
}

/** Reads the declarations of the given files, by the names of their entry points. */
export function readEntryPoints(files: ReadonlyMap<string, string>): EntryPoints {
  const program = ts.createProgram([...files.values()], {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    lib: ['lib.es2023.d.ts'],
    types: ['node'],
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    exactOptionalPropertyTypes: true,
    allowImportingTsExtensions: true,
  });
  const checker = program.getTypeChecker();
  const points = [...files].map(([name, file]) => ({
    name,
    file: name.replace(/^evenhand\/?/, '').replaceAll('/', '-') || 'evenhand',
    exports: exportsOf(program, checker, file),
  }));
  const homes = new Map<ts.Symbol, EntryPoint>();
  // A symbol belongs to the longest path that exports it. The package itself repeats the names of the others.
  const longestFirst = [...points].sort((a, b) => depthOf(b) - depthOf(a) || a.name.localeCompare(b.name, 'en'));
  for (const point of longestFirst) {
    for (const symbol of point.exports.values()) if (!homes.has(symbol)) homes.set(symbol, point);
  }
  return {
    points,
    checker,
    homeOf: (symbol) => homes.get(symbol),
    isOwn: (file) => !file.fileName.includes('/node_modules/'),
  };
}

/** Reads the entry points of package.json from the declarations of the build. */
export function readPackage(): EntryPoints {
  const { exports } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
    readonly exports: Readonly<Record<string, { readonly types?: string }>>;
  };
  const files = Object.entries(exports).flatMap(([name, { types }]): [string, string][] =>
    // The pattern repeats the other entry points under the name of the specification.
    types === undefined || name.includes('*') ? [] : [[`evenhand${name.slice(1)}`, path.join(root, types)]],
  );
  const missing = files.filter(([, file]) => !existsSync(file)).map(([name]) => name);
  if (missing.length > 0) throw new Error(`The build has no types for ${missing.join(', ')}. Run: npm run build`);
  return readEntryPoints(new Map(files));
}

function depthOf({ name }: EntryPoint): number {
  return name.split('/').length;
}

function exportsOf(program: ts.Program, checker: ts.TypeChecker, file: string): Map<string, ts.Symbol> {
  const source = program.getSourceFile(file);
  const module = source && checker.getSymbolAtLocation(source);
  if (module === undefined) throw new Error(`${file} is not a module.`);
  const exported = checker
    .getExportsOfModule(module)
    .map((symbol): [string, ts.Symbol] => [symbol.name, resolve(checker, symbol)]);
  return new Map(exported.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Returns the symbol that an alias (an import or a re-export) names. */
export function resolve(checker: ts.TypeChecker, symbol: ts.Symbol): ts.Symbol {
  return (symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol);
}

const printer = ts.createPrinter({ removeComments: true });

/** Returns the declarations of a symbol as TypeScript, without comments and private members. */
export function declarationTexts(symbol: ts.Symbol): string[] {
  return (symbol.declarations ?? []).map((declaration) => {
    const node = ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration;
    return printer.printNode(ts.EmitHint.Unspecified, withoutPrivate(node), node.getSourceFile());
  });
}

function withoutPrivate(node: ts.Node): ts.Node {
  if (!ts.isClassDeclaration(node)) return node;
  const isPrivate = (member: ts.ClassElement): boolean =>
    (ts.getCombinedModifierFlags(member) & ts.ModifierFlags.Private) !== 0;
  const members = node.members.filter((member) => !isPrivate(member));
  const { factory } = ts;
  return factory.updateClassDeclaration(
    node,
    node.modifiers,
    node.name,
    node.typeParameters,
    node.heritageClauses,
    members,
  );
}
