import ts from 'typescript';
import { commentPassage } from './comment-passages.ts';
import type { Passage } from './passage.ts';

/** Functions whose first argument is the name of a test. */
const testCalls = new Set(['it', 'test', 'describe', 'suite']);

/**
 * Returns the prose of a TypeScript file: comments, test names, and in src/ string literals of at least three words, which are messages.
 */
export function sourcePassages(path: string, source: string): Passage[] {
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true);
  const isTest = /\.test\.ts$|^test\/|\/testing\//.test(path);
  const passages = comments(file, path, source);
  const lineOf = (node: ts.Node): number => file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1;
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node) || ts.isTypeNode(node)) return;
    const text = literalText(node);
    if (text !== undefined && isProse(text)) {
      if (isTestName(node)) passages.push({ area: 'tests', path, line: lineOf(node), text });
      else if (!isTest && path.startsWith('src/')) passages.push({ area: 'messages', path, line: lineOf(node), text });
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return passages;
}

function comments(file: ts.SourceFile, path: string, source: string): Passage[] {
  /** Start and end of each comment. Consecutive line comments are one block. */
  const blocks: { from: number; to: number }[] = [];
  const seen = new Set<number>();
  const visit = (node: ts.Node): void => {
    const ranges = [
      ...(ts.getLeadingCommentRanges(source, node.getFullStart()) ?? []),
      ...(ts.getTrailingCommentRanges(source, node.getEnd()) ?? []),
    ];
    for (const { pos, end, kind } of ranges) {
      if (seen.has(pos)) continue;
      seen.add(pos);
      const last = blocks.at(-1);
      const isLine = kind === ts.SyntaxKind.SingleLineCommentTrivia;
      if (
        isLine &&
        last !== undefined &&
        /^\s*$/.test(source.slice(last.to, pos)) &&
        source.startsWith('//', last.from)
      )
        last.to = end;
      else blocks.push({ from: pos, to: end });
    }
    node.getChildren(file).forEach(visit);
  };
  visit(file);
  return blocks.flatMap(({ from, to }) =>
    commentPassage('comments', path, file.getLineAndCharacterOfPosition(from).line + 1, source.slice(from, to)),
  );
}

/** Returns the text of a string or template. The word `code` replaces substitutions. */
function literalText(node: ts.Node): string | undefined {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text;
  if (ts.isTemplateExpression(node))
    return node.head.text + node.templateSpans.map(({ literal }) => `code${literal.text}`).join('');
  return undefined;
}

function isProse(text: string): boolean {
  return (text.match(/(?<![\w$/.-])[A-Za-z]+(?=[ ,.:;?!]|$)/g)?.length ?? 0) >= 3;
}

function isTestName(node: ts.Node): boolean {
  const call = node.parent;
  if (!ts.isCallExpression(call) || call.arguments[0] !== node) return false;
  return testCalls.has(/^\w+/.exec(call.expression.getText())?.[0] ?? '');
}
