import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

import ts from 'typescript';

/** An options parameter of a public constructor, function or method. */
export interface OptionParameter {
  /** The function or method, such as `ReductionsWrapper`, `ReductionsWrapper.fit` or `bootstrapCi`. */
  readonly owner: string;
  readonly name: string;
  /** Calls the owner with this argument and empty objects for all others, on an object without state. */
  readonly call: (options: object) => Promise<unknown>;
}

interface Callable {
  readonly owner: string;
  readonly module: string;
  readonly exported: string;
  /** The name of a method; undefined for the export itself. */
  readonly method?: string;
  readonly isStatic?: boolean;
  readonly signatures: readonly ts.Signature[];
}

/** The names of types with named options. */
const OPTION_TYPES = /(Options|Settings|Parameters|Bounds|Columns|Description|Input|Labels|MetricRows|FrameRows)$/;

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Finds every options parameter in the types of the package's entry points. */
export function listOptionParameters(): OptionParameter[] {
  const modules = entryModules();
  const program = ts.createProgram(modules, COMPILER_OPTIONS, relativeOnlyHost());
  const checker = program.getTypeChecker();
  const seen = new Set<ts.Symbol>();
  const callables = modules.flatMap((module) => {
    const symbol = checker.getSymbolAtLocation(program.getSourceFile(module) as ts.SourceFile) as ts.Symbol;
    return checker.getExportsOfModule(symbol).flatMap((exported) => {
      const target = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
      if (seen.has(target) || !(target.flags & ts.SymbolFlags.Value)) return [];
      seen.add(target);
      return callablesOf(checker, module, exported.name, target);
    });
  });
  return callables.flatMap((callable) => optionParametersOf(checker, callable));
}

const COMPILER_OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  lib: ['lib.es2023.d.ts'],
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  strict: true,
  types: [],
  noEmit: true,
  allowImportingTsExtensions: true,
};

/** Creates a compiler host that skips imported packages, which would take most of the time; their types become any. */
function relativeOnlyHost(): ts.CompilerHost {
  const host = ts.createCompilerHost(COMPILER_OPTIONS);
  host.resolveModuleNameLiterals = (literals, containing) =>
    literals.map(({ text }) => ({
      resolvedModule: text.startsWith('.')
        ? {
            resolvedFileName: path.resolve(path.dirname(containing), text),
            extension: ts.Extension.Ts,
            isExternalLibraryImport: false,
          }
        : undefined,
    }));
  return host;
}

/** Returns the source files of the package's entry points. */
function entryModules(): string[] {
  const { exports } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as {
    exports: Record<string, { default?: string }>;
  };
  const compiled = Object.values(exports).flatMap((entry) => entry.default ?? []);
  return compiled
    .filter((file) => !file.includes('*'))
    .map((file) => path.join(ROOT, file.replace('./dist', 'src').replace(/\.js$/, '.ts')));
}

function callablesOf(checker: ts.TypeChecker, module: string, exported: string, symbol: ts.Symbol): Callable[] {
  const type = checker.getTypeOfSymbol(symbol);
  const signatures = [...type.getCallSignatures(), ...type.getConstructSignatures()];
  const own: Callable = { owner: exported, module, exported, signatures };
  if (!(symbol.flags & ts.SymbolFlags.Class)) return [own];
  const methods = (of: ts.Type, isStatic: boolean): Callable[] =>
    of.getProperties().flatMap((property) => {
      const declaration = property.valueDeclaration;
      if (declaration === undefined || !isPublicMethod(declaration)) return [];
      const { name } = property;
      const called = checker.getTypeOfSymbol(property).getCallSignatures();
      return [{ owner: `${exported}.${name}`, module, exported, method: name, isStatic, signatures: called }];
    });
  return [own, ...methods(type, true), ...methods(checker.getDeclaredTypeOfSymbol(symbol), false)];
}

function isPublicMethod(declaration: ts.Declaration): boolean {
  if (!ts.isMethodDeclaration(declaration) || ts.isPrivateIdentifier(declaration.name)) return false;
  const hidden = ts.ModifierFlags.Private | ts.ModifierFlags.Protected;
  return (ts.getCombinedModifierFlags(declaration) & hidden) === 0;
}

function optionParametersOf(checker: ts.TypeChecker, callable: Callable): OptionParameter[] {
  const found = new Map<number, OptionParameter>();
  for (const signature of callable.signatures) {
    signature.parameters.forEach((parameter, index) => {
      if (found.has(index) || !isForOptions(checker, parameter)) return;
      const name = parameter.name.startsWith('__') ? 'options' : parameter.name;
      found.set(index, { owner: callable.owner, name, call: (options) => callWith(callable, index, options) });
    });
  }
  return [...found.values()];
}

/**
 * Returns whether a parameter is an options object: by its type's name, its own name, or because all properties are
 * optional.
 */
function isForOptions(checker: ts.TypeChecker, parameter: ts.Symbol): boolean {
  const type = checker.getNonNullableType(checker.getTypeOfSymbol(parameter));
  const parts = (type.isUnion() ? type.types : [type]).filter((part) => isPlainObject(checker, part));
  return parts.some((part) => {
    const properties = part.getProperties();
    const isOptional = properties.length > 0 && properties.every(({ flags }) => flags & ts.SymbolFlags.Optional);
    return parameter.name === 'options' || isOptional || namesOf(part).some((name) => OPTION_TYPES.test(name));
  });
}

/** Returns whether a type is an object with known properties, and not an array, function, class or record. */
function isPlainObject(checker: ts.TypeChecker, type: ts.Type): boolean {
  const isObject = (type.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection)) !== 0;
  const symbol = type.getSymbol();
  return (
    isObject &&
    !checker.isArrayLikeType(type) &&
    type.getCallSignatures().length === 0 &&
    type.getStringIndexType() === undefined &&
    type.getNumberIndexType() === undefined &&
    !(symbol !== undefined && symbol.flags & ts.SymbolFlags.Class)
  );
}

function namesOf(type: ts.Type): string[] {
  const own = [type.aliasSymbol?.name, type.getSymbol()?.name].filter((name) => name !== undefined);
  return type.isIntersection() ? [...own, ...type.types.flatMap(namesOf)] : own;
}

async function callWith(callable: Callable, index: number, options: object): Promise<unknown> {
  const { module, exported, method, isStatic } = callable;
  const loaded = (await import(pathToFileURL(module).href)) as Record<string, unknown>;
  const target = loaded[exported] as (new (...given: unknown[]) => unknown) & Record<string, unknown>;
  const given = Array.from({ length: index + 1 }, (_, position) => (position === index ? options : {}));
  if (method === undefined) {
    const isClass = /^class\b/.test(Function.prototype.toString.call(target));
    return isClass ? new target(...given) : (Reflect.apply(target, undefined, given) as unknown);
  }
  const receiver = isStatic === true ? target : (Object.create(target.prototype as object) as Record<string, unknown>);
  return Reflect.apply(receiver[method] as () => unknown, receiver, given) as unknown;
}
