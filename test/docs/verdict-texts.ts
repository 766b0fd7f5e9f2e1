import { globSync, readFileSync } from 'node:fs';
import ts from 'typescript';
import { endReasons } from '../../src/api/pod-group.ts';

/** Texts that a process may report about a pod or a group, read from the sources. `…` stands for variable parts. */
export interface VerdictTexts {
  /** Members of the union in `src/api/verdict.ts`. */
  readonly reasons: readonly string[];
  /** Values of waitsFor, from the same file. */
  readonly waitsFor: readonly string[];
  /** Reasons of the conditions of a PodGroup. */
  readonly conditionReasons: readonly string[];
  /** Reasons of Events. */
  readonly eventReasons: readonly string[];
  /** Sentences, and parts of them, that become the message of a verdict. */
  readonly messages: readonly string[];
}

/** file -> variables whose texts reach a Status or a verdict other than through the constructor of Status */
const otherTexts: Readonly<Record<string, readonly string[]>> = {
  'src/plugins/noderesources/shortage.ts': ['text'],
  'src/plugins/volumebinding/volume-choice.ts': ['unreachable', 'unmatched', 'noCapacity', 'gone'],
  'src/scheduler/recovery/gang-evictions.ts': ['note', 'why'],
  'src/scheduler/preemption/preemptions.ts': ['note'],
  'src/scheduler/preemption/ongoing-preemptions.ts': ['note'],
  'src/scheduler/cycle/wait-causes.ts': ['neverFits', 'searchEnded'],
  'src/scheduler/cycle/node-availability-check.ts': ['neverFits', 'waitsForNodes'],
};
/** Functions that create the message of a verdict. */
const describing = [
  ...['describeShortage', 'describeFirstInLine', 'describeRejection', 'describeDiagnosis', 'describeUnavailable'],
  ...['waitingFor', 'gaveUpOn', 'couldNotEvict', 'reservedFor', 'waitsBehind'],
  ...['describeMisfit', 'describeUnsupported', 'describeAbsence'],
  ...['claimNotFound', 'volumeNotFound', 'classNotFound', 'withoutBindingMode', 'notOwned'],
];
/** Functions that volume plugins call with the text of a Status. */
const rejecting = ['reject', 'rejection', 'this.#fail'];

export function verdictTexts(): VerdictTexts {
  const files = globSync('src/{plugins,framework,scheduler}/**/*.ts', { exclude: ['**/*.test.ts', '**/testing/**'] });
  return {
    reasons: unionOf('src/api/verdict.ts', 'VerdictReason'),
    waitsFor: unionOf('src/api/verdict.ts', 'WaitsFor'),
    conditionReasons: [...propertiesOf('src/controller/pod-group-status.ts', 'reason'), ...endReasons],
    eventReasons: [
      'src/scheduler/verdicts/events.ts',
      'src/scheduler/preemption/preemption-events.ts',
      'src/controller/label-missing.ts',
    ].flatMap((file) => propertiesOf(file, 'reason')),
    messages: [
      ...new Set(
        files
          .sort()
          .flatMap(messagesIn)
          .map((text) => text.replaceAll(/…+/g, '…')),
      ),
    ]
      .filter((text) => /[a-z]{3}/.test(text))
      .sort(),
  };
}

function messagesIn(path: string): string[] {
  const found: string[] = [];
  const source = parse(path);
  const others = otherTexts[path] ?? [];
  visit(source, (node) => {
    if (isNew(node, 'Status') && textsOf(node.arguments![0]!, source).every((code) => code !== 'Skip'))
      found.push(...textsOf(node.arguments![1]!, source));
    else if (ts.isCallExpression(node) && node.expression.getText(source) === 'notReady')
      found.push(...textsOf(node.arguments[0]!, source));
    else if (
      path.includes('volume') &&
      ts.isCallExpression(node) &&
      rejecting.includes(node.expression.getText(source)) &&
      node.arguments.length === 1
    )
      found.push(...textsOf(node.arguments[0]!, source));
    else if (
      path.endsWith('/provisioning.ts') &&
      ts.isPropertyAssignment(node) &&
      node.name.getText(source) === 'reason'
    )
      found.push(...textsOf(node.initializer, source));
    else if (
      path.endsWith('/evict-member.ts') &&
      ts.isPropertyAssignment(node) &&
      node.name.getText(source) === 'failure'
    )
      found.push(...textsOf(node.initializer, source));
    else if (isRejection(node)) found.push(...textsOf(node.arguments[1]!, source));
    else if (
      /\/(preemptions|gang-evictions)\.ts$/.test(path) &&
      ts.isPropertyAssignment(node) &&
      ['message', 'why'].includes(node.name.getText(source))
    )
      found.push(...textsOf(node.initializer, source));
    else if (ts.isVariableDeclaration(node) && others.includes(node.name.getText(source)))
      found.push(...textsOf(node.initializer!, source));
    else if (ts.isFunctionDeclaration(node) && describing.includes(node.name?.text ?? ''))
      visit(node, (inner) => {
        if (ts.isReturnStatement(inner)) found.push(...textsOf(inner.expression!, source));
      });
  });
  return found;
}

/** Returns every text that the expression may evaluate to. */
function textsOf(expression: ts.Expression, source: ts.SourceFile): string[] {
  if (ts.isStringLiteralLike(expression)) return [expression.text];
  if (ts.isObjectLiteralExpression(expression))
    return expression.properties.flatMap((each) => textsOfReason(each, source));
  if (ts.isParenthesizedExpression(expression)) return textsOf(expression.expression, source);
  if (ts.isConditionalExpression(expression))
    return [...textsOf(expression.whenTrue, source), ...textsOf(expression.whenFalse, source)];
  if (ts.isTemplateExpression(expression)) {
    return expression.templateSpans.reduce(
      (texts, { expression: part, literal }) =>
        texts.flatMap((text) => textsOf(part, source).map((value) => text + value + literal.text)),
      [expression.head.text],
    );
  }
  if (ts.isBinaryExpression(expression) && expression.operatorToken.kind === ts.SyntaxKind.PlusToken) {
    const [left, right] = [textsOf(expression.left, source), textsOf(expression.right, source)];
    return left.flatMap((text) => right.map((rest) => text + rest));
  }
  const initializer = ts.isIdentifier(expression) ? initializerOf(expression, source) : undefined;
  return initializer === undefined ? ['…'] : textsOf(initializer, source);
}

/** Returns the texts of a reason that has a code. */
function textsOfReason(property: ts.ObjectLiteralElementLike, source: ts.SourceFile): string[] {
  if (property.name?.getText(source) !== 'text') return [];
  if (ts.isPropertyAssignment(property)) return textsOf(property.initializer, source);
  return ts.isShorthandPropertyAssignment(property) ? textsOf(property.name, source) : [];
}

/** Returns the initializer of the name in the nearest enclosing block. */
function initializerOf(name: ts.Identifier, source: ts.SourceFile): ts.Expression | undefined {
  for (let scope: ts.Node = name.parent; ; scope = scope.parent) {
    if (ts.isBlock(scope) || ts.isSourceFile(scope)) {
      for (const statement of scope.statements) {
        if (!ts.isVariableStatement(statement)) continue;
        const found = statement.declarationList.declarations.find((each) => each.name.getText(source) === name.text);
        if (found?.initializer !== undefined) return found.initializer;
      }
    }
    if (ts.isSourceFile(scope)) return undefined;
  }
}

function unionOf(path: string, name: string): string[] {
  const found: string[] = [];
  visit(parse(path), (node) => {
    if (!ts.isTypeAliasDeclaration(node) || node.name.text !== name || !ts.isUnionTypeNode(node.type)) return;
    for (const type of node.type.types)
      if (ts.isLiteralTypeNode(type) && ts.isStringLiteral(type.literal)) found.push(type.literal.text);
  });
  return found;
}

/** Returns the texts assigned to properties and variables of that name. */
function propertiesOf(path: string, name: string): string[] {
  const found: string[] = [];
  const source = parse(path);
  visit(source, (node) => {
    const isOne =
      (ts.isPropertyAssignment(node) || ts.isVariableDeclaration(node)) && node.name.getText(source) === name;
    if (isOne && node.initializer !== undefined) found.push(...textsOf(node.initializer, source));
  });
  return [...new Set(found)].filter((text) => text !== '…');
}

function isNew(node: ts.Node, name: string): node is ts.NewExpression {
  return ts.isNewExpression(node) && node.expression.getText() === name && (node.arguments?.length ?? 0) > 1;
}

/** Reports whether the node is `pod.reject(plugin, text)` of a pod that waits at Permit. */
function isRejection(node: ts.Node): node is ts.CallExpression {
  if (!ts.isCallExpression(node) || node.arguments.length !== 2) return false;
  return ts.isPropertyAccessExpression(node.expression) && node.expression.name.text === 'reject';
}

function visit(node: ts.Node, look: (node: ts.Node) => void): void {
  look(node);
  ts.forEachChild(node, (child) => visit(child, look));
}

function parse(path: string): ts.SourceFile {
  return ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true);
}
