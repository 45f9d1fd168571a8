import ts from 'typescript';

import { declarationTexts, type EntryPoint, type EntryPoints } from './entry-points.ts';
import { code, page, plain } from './markdown.ts';

/** The kinds of exports in the order of a page. */
const KINDS = ['Functions', 'Classes', 'Constants', 'Interfaces', 'Types'] as const;

type Kind = (typeof KINDS)[number];

/** The length above which a signature is left to the editor. */
const MAX_SIGNATURE = 400;

/** Returns a page for each entry point, by the names of the files: each export with its signature and first sentence. */
export function libraryReferences(entries: EntryPoints): Map<string, string> {
  return new Map(entries.points.map((point) => [`library/${point.file}.md`, textOf(point, entries)]));
}

function textOf(point: EntryPoint, entries: EntryPoints): string {
  const own = [...point.exports].filter(([, symbol]) => entries.homeOf(symbol) === point);
  const others = [...point.exports].filter(([, symbol]) => entries.homeOf(symbol) !== point);
  return page([
    `# Reference: ${point.name}`,
    '',
    'Generated from the docstrings by `npm run docs:reference`. Your editor shows the complete docstrings, with parameters, errors, sources and examples.',
    '',
    ...KINDS.flatMap((kind) => {
      const lines = own.filter(([, symbol]) => kindOf(symbol) === kind).flatMap(([name, symbol]) => itemOf(name, symbol, entries)); // prettier-ignore
      return lines.length === 0 ? [] : [`## ${kind}`, '', ...lines, ''];
    }),
    ...(others.length === 0 ? [] : ['## Exports of other entry points', '']),
    ...others.map(([name, symbol]) => {
      const home = entries.homeOf(symbol);
      return `- ${code(name)}: see [${home?.name ?? ''}](${home?.file ?? ''}.md)`;
    }),
  ]);
}

function kindOf({ flags }: ts.Symbol): Kind {
  if ((flags & ts.SymbolFlags.Function) !== 0) return 'Functions';
  if ((flags & ts.SymbolFlags.Class) !== 0) return 'Classes';
  if ((flags & ts.SymbolFlags.Variable) !== 0) return 'Constants';
  return (flags & ts.SymbolFlags.Interface) !== 0 ? 'Interfaces' : 'Types';
}

/** Returns the item of an export. Methods of a class are items below it. */
function itemOf(name: string, symbol: ts.Symbol, { checker }: EntryPoints): string[] {
  const signatures = kindOf(symbol) === 'Functions' ? declarationTexts(symbol).map(signatureOf) : [name];
  const summary = firstSentence(symbol, checker);
  return [itemText(signatures, summary), ...membersOf(symbol, checker).map((line) => `  ${line}`)];
}

function itemText(signatures: readonly string[], summary: string): string {
  return `- ${signatures.map(code).join(' or ')}${summary === '' ? '' : `: ${plain(summary)}`}`;
}

/** Returns a signature without keywords; only the name, if it is long. */
function signatureOf(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').replace(/^export declare function /, '').replace(/;$/, ''); // prettier-ignore
  return line.length <= MAX_SIGNATURE ? line : (/^\w+/.exec(line)?.[0] ?? line);
}

/** Returns the items of the public methods of a class that have a docstring. */
function membersOf(symbol: ts.Symbol, checker: ts.TypeChecker): string[] {
  if (kindOf(symbol) !== 'Classes') return [];
  const members = [...(symbol.members?.values() ?? []), ...(symbol.exports?.values() ?? [])];
  return members.flatMap((member) => {
    const declaration = member.declarations?.[0];
    if (declaration === undefined || !ts.isMethodDeclaration(declaration)) return [];
    const summary = firstSentence(member, checker);
    const isPrivate = (ts.getCombinedModifierFlags(declaration) & ts.ModifierFlags.Private) !== 0;
    return summary === '' || isPrivate ? [] : [itemText(declarationTexts(member).map(signatureOf), summary)];
  });
}

function firstSentence(symbol: ts.Symbol, checker: ts.TypeChecker): string {
  const text = ts.displayPartsToString(symbol.getDocumentationComment(checker)).split('\n\n')[0] ?? '';
  const line = text.replaceAll(/\{@link(?:code|plain)? +([^}]+?) *\}/g, '`$1`').replaceAll(/\s+/g, ' ').trim(); // prettier-ignore
  // A formula follows a colon; the item ends there.
  return (/^.*?[.:?!](?= |$)/.exec(line)?.[0] ?? line).replace(/:$/, '.');
}
