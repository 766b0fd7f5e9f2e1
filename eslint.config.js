import js from '@eslint/js';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['dist/', 'node_modules/', 'coverage/', 'test/fixtures/', '.cache/'] },
  js.configs.recommended,
  {
    files: ['**/*.ts'],
    extends: [...tseslint.configs.recommendedTypeChecked, ...tseslint.configs.stylisticTypeChecked],
    // One program for all files: the project service takes a third more time.
    languageOptions: { parserOptions: { project: './tsconfig.json', tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'separate-type-imports' }],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/explicit-module-boundary-types': 'error',
      '@typescript-eslint/no-non-null-assertion': 'off', // indexes that the line above has just bounded
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/require-await': 'off', // an interface may be async where one implementer is not
      '@typescript-eslint/prefer-for-of': 'off', // the hot loops index on purpose
      'no-restricted-globals': ['error', { name: 'Buffer', message: 'Import Buffer from node:buffer.' }],
      'no-console': 'error', // the logger or the command line's output writes, nothing else
    },
  },
  {
    // It has the types of a browser.
    files: ['src/ui/**/*.ts'],
    languageOptions: { parserOptions: { project: './src/ui/tsconfig.json', tsconfigRootDir: import.meta.dirname } },
  },
  { files: ['**/*.js', '**/*.mjs'], languageOptions: { globals: { process: 'readonly', console: 'readonly' } } },
  { files: ['**/*.cjs'], languageOptions: { globals: { module: 'writable' } } },
  { files: ['scripts/**', 'bench/**', 'examples/**'], rules: { 'no-console': 'off' } },
  {
    // What an API server answers is read as it comes; an assertion on a wrong shape fails anyway.
    files: ['**/*.test.ts', 'test/**/*.ts', 'src/**/testing/*.ts'],
    rules: {
      '@typescript-eslint/no-explicit-any': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
    },
  },
  {
    files: ['**/*.test.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        ...[
          // it('…', () => {}, 60_000), it.each(…)('…', () => {}, 60_000)
          'CallExpression[callee.name=/^(it|test|(before|after)(All|Each))$/] > Literal[raw=/^[0-9]/]',
          'CallExpression[callee.callee.property.name=/^(each|skipIf)$/] > Literal[raw=/^[0-9]/]',
          // it('…', { timeout: 60_000 }, () => {})
          ':matches(CallExpression[callee.name=/^(it|test|describe)$/], CallExpression[callee.callee.property.name="each"]) > ObjectExpression > Property[key.name="timeout"] > Literal',
          // expect.poll(() => {}, { timeout: 60_000 })
          'CallExpression[callee.property.name=/^(poll|waitFor|waitUntil)$/] > ObjectExpression > Property[key.name="timeout"] > Literal',
        ].map((selector) => ({
          selector,
          message: 'A busy machine reaches it: vitest.config.ts says when what hangs is ended, and waits use hangsMs.',
        })),
      ],
    },
  },
);
