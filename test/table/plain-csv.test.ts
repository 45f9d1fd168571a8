import { expect } from 'chai';

import { columnToArray } from '../../src/table/column.ts';
import { parsePlainCsv } from '../../src/table/index.ts';

const COLUMNS = { outcomes: ['p'], groups: ['g'] };

/** Reads the columns p and g; undefined if the table is not plain. */
function read(text: string): unknown {
  const table = parsePlainCsv(text, COLUMNS);
  return table && ['p', 'g'].map((name) => columnToArray(table.column(name)));
}

describe('parsePlainCsv', () => {
  const plain: readonly (readonly [title: string, text: string, p: readonly unknown[], g: readonly unknown[]])[] = [
    ['integers and words', 'p,g\n1,a\n0,b\n', [1, 0], ['a', 'b']],
    ['Windows line ends, and a last line without one', 'p,g\r\n1,a\r\n0,b', [1, 0], ['a', 'b']],
    ['another delimiter, and other columns', 'x;g;p\n1.5;a,b;1\nNaN;c;0\n', [1, 0], ['a,b', 'c']],
    ['quoted fields with delimiters and quotes', '"p","g"\n"1","a,b"\n0,"a""b"\n', [1, 0], ['a,b', 'a"b']],
    ['empty fields, also quoted', 'p,g\n,a\n1,\n0,""\n', [null, 1, 0], ['a', null, null]],
    ['integers as labels of groups', 'p,g\n1,10\n0,2\n', [1, 0], ['10', '2']],
    ['ranges as labels of groups', 'p,g\n1,18-25\n0,26-45\n', [1, 0], ['18-25', '26-45']],
    ['numbers beside words', 'p,g\nyes,a\nno,1.0\n', ['yes', 'no'], ['a', '1.0']],
  ];
  for (const [title, text, p, g] of plain) {
    it(`reads ${title}`, () => {
      expect(read(text)).to.deep.equal([p, g]);
    });
  }

  const rows = (count: number): string => 'p,g\n' + '1,a\n'.repeat(count);
  /** Returns a table of columns named p, g, 2, 3 … with one row. */
  const wide = (count: number): string => {
    const rest = Array.from({ length: count - 2 }, (_, index) => String(index + 2));
    return `${['p', 'g', ...rest].join()}\n${['1', 'a', ...rest].join()}\n`;
  };
  const others: readonly (readonly [title: string, text: string])[] = [
    ['a missing column', 'p,h\n1,a\n'],
    ['names that differ only by case', 'p,g,G\n1,a,b\n'],
    ['an empty name', 'p,g,\n1,a,b\n'],
    ['a name with outer spaces', 'p,g, x\n1,a,b\n'],
    ['a quote in a name', '"p",g,"a""b"\n1,a,b\n'],
    ['more than 1,000 columns', wide(1001)],
    ['no rows', 'p,g\n'],
    ['an empty text', ''],
    ['more than 20,000 rows', rows(20_001)],
    ['a row with more fields', 'p,g\n1,a,b\n'],
    ['a row with fewer fields', 'p,g\n1\n'],
    ['a delimiter at the end of each row', 'p,g\n1,a,\n'],
    ['a blank line', 'p,g\n1,a\n\n0,b\n'],
    ['mixed line ends', 'p,g\n1,a\r\n0,b\n'],
    ['carriage returns as line ends', 'p,g\r1,a\r0,b\r'],
    ['a quote inside a field', 'p,g\n1,a"b\n'],
    ['a quote before a space', 'p,g\n1,"a" \n'],
    ['a quote after a space', 'p,g\n1, "a"\n'],
    ['a quote without an end', 'p,g\n1,"a\n'],
    ['a line end in quotes', 'p,g\n1,"a\nb"\n'],
    ['a control character', 'p,g\n1,a\u0000\n'],
    ['a byte order mark in a field', 'p,g\n1,\ufeff\n0,b\n'],
    ['a column of empty fields', 'p,g\n1,\n0,\n'],
    ['fractions', 'p,g\n1.0,a\n0.0,b\n'],
    ['fractions as labels of groups', 'p,g\n1,1.0\n0,2\n'],
    ['leading zeros', 'p,g\n1,01\n0,1\n'],
    ['signs', 'p,g\n+1,a\n0,b\n'],
    ['spaces around numbers', 'p,g\n 1,a\n0,b\n'],
    ['integers of 16 digits', 'p,g\n1,1234567890123456\n'],
    ['exponents', 'p,g\n1e0,a\n0,b\n'],
    ['NaN among numbers', 'p,g\n1,NaN\n0,2\n'],
    ['infinity among numbers', 'p,g\n1,inf\n0,2\n'],
    ['marks of a spreadsheet', "p,g\n1,'=1\n0,b\n"],
  ];
  for (const [title, text] of others) {
    it(`leaves ${title} to DuckDB`, () => {
      expect(read(text)).to.equal(undefined);
    });
  }

  it('reads 20,000 rows, and 1,000 columns', () => {
    expect(read(wide(1000))).to.deep.equal([[1], ['a']]);
    expect(parsePlainCsv(rows(20_000), COLUMNS)?.rowCount).to.equal(20_000);
  });

  it('leaves a column to DuckDB that is an outcome and a group', () => {
    expect(parsePlainCsv('p,g\n1,a\n0,b\n', { outcomes: ['p'], groups: ['g', 'p'] })).to.equal(undefined);
  });
});
