import eslint from '@eslint/js';
import jsdoc from 'eslint-plugin-jsdoc';
import tseslint from 'typescript-eslint';

const DECODE =
  'It replaces bytes that are not UTF-8 by U+FFFD, or decodes apart from the rest: use internal/decode-utf8.';

/** The ways to make text of bytes, beside the one function for it. */
const OTHER_DECODERS = [
  "CallExpression[callee.property.name='toString'][arguments.0.value=/^utf-?8$/i]",
  "CallExpression[callee.property.name='setEncoding']",
  'CallExpression[callee.name=/^readFile(Sync)?$/] > Literal[value=/^utf-?8$/i]',
  'CallExpression[callee.property.name=/^readFile(Sync)?$/] > Literal[value=/^utf-?8$/i]',
  "CallExpression[callee.name=/^(readFile|readFileSync|createReadStream)$/] > ObjectExpression > Property[key.name='encoding']",
  'NewExpression[callee.name=/^(TextDecoder|TextDecoderStream|StringDecoder)$/]',
  "CallExpression[arguments.length=0][callee.property.name='json']",
  'ImportDeclaration[source.value=/^node:(readline|string_decoder|stream.consumers)/]',
  'ImportExpression[source.value=/^node:(readline|string_decoder|stream.consumers)/]',
].map((selector) => ({ selector, message: DECODE }));

export default tseslint.config(
  { ignores: ['dist/', 'out/', 'site/', 'docs-site/', 'coverage/', 'node_modules/'] },
  eslint.configs.recommended,
  {
    files: ['**/*.{ts,tsx}'],
    extends: [...tseslint.configs.strictTypeChecked, jsdoc.configs['flat/recommended-tsdoc-error']],
    languageOptions: {
      parserOptions: {
        // It contains src, test and scripts. A list of projects would keep src in memory twice.
        project: './test/tsconfig.json',
        tsconfigRootDir: import.meta.dirname,
      },
    },
    settings: { jsdoc: { mode: 'typescript' } },
    rules: {
      // Types are in the signature; parameters are documented where the name and type do not say it all.
      'jsdoc/check-tag-names': ['error', { definedTags: ['defaultValue'] }],
      'jsdoc/tag-lines': ['error', 'never', { startLines: null }],
      'jsdoc/require-param': 'off',
      'jsdoc/require-returns': 'off',
      'jsdoc/require-property': 'off',
      'jsdoc/require-throws-type': 'off',
      'jsdoc/check-param-names': ['error', { checkDestructured: false, disableMissingParamChecks: true }],
      'jsdoc/require-jsdoc': [
        'error',
        {
          publicOnly: true,
          require: { ClassDeclaration: true, FunctionDeclaration: true, MethodDefinition: false },
          contexts: ['TSInterfaceDeclaration', 'TSTypeAliasDeclaration'],
        },
      ],
      '@typescript-eslint/explicit-function-return-type': ['error', { allowExpressions: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      eqeqeq: 'error',
      'no-restricted-properties': [
        'error',
        { object: 'Math', property: 'random', message: 'Randomness is an argument: use internal/random.' },
        { object: 'Date', property: 'now', message: 'Time is an argument.' },
      ],
    },
  },
  ...['web', 'docs/.vitepress'].map((folder) => ({
    files: [`${folder}/**/*.{ts,tsx}`],
    languageOptions: { parserOptions: { project: `./${folder}/tsconfig.json` } },
  })),
  {
    files: ['src/**/*.ts'],
    ignores: ['src/internal/decode-utf8.ts'],
    rules: { 'no-restricted-syntax': ['error', ...OTHER_DECODERS] },
  },
  {
    files: ['test/**/*.ts', 'scripts/**/*.ts'],
    rules: {
      'jsdoc/require-jsdoc': 'off',
      '@typescript-eslint/explicit-function-return-type': 'off',
      // chai's assertions are property reads.
      '@typescript-eslint/no-unused-expressions': 'off',
      '@typescript-eslint/restrict-template-expressions': 'off',
    },
  },
  {
    // Runs in a browser.
    files: ['web/service-worker.js'],
    languageOptions: { globals: { self: 'readonly', caches: 'readonly', fetch: 'readonly' } },
  },
  {
    files: ['**/*.{js,mjs,cjs}'],
    languageOptions: {
      globals: {
        console: 'readonly',
        process: 'readonly',
        Buffer: 'readonly',
        AbortSignal: 'readonly',
        fetch: 'readonly',
      },
    },
  },
);
