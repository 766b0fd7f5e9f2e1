interface State {
  fillStyle: string;
  strokeStyle: string;
  lineWidth: number;
  font: string;
  textAlign: 'start' | 'center' | 'right';
  textBaseline: 'alphabetic' | 'middle';
  globalAlpha: number;
  dash: readonly number[];
  x: number;
  y: number;
  /** Clips that are open. */
  clips: number;
}

const anchors = { start: 'start', center: 'middle', right: 'end' } as const;

/** The part of CanvasRenderingContext2D that the timeline page draws lanes with. It writes SVG instead, with the same bytes on each machine. */
export class SvgContext {
  fillStyle = '#000000';
  strokeStyle = '#000000';
  lineWidth = 1;
  font = '10px sans-serif';
  textAlign: State['textAlign'] = 'start';
  textBaseline: State['textBaseline'] = 'alphabetic';
  globalAlpha = 1;
  readonly #saved: State[] = [];
  readonly #elements: string[] = [];
  #dash: readonly number[] = [];
  /** Of the origin. */
  #x = 0;
  #y = 0;
  #clips = 0;
  #path = '';
  /** The last rectangle of the path: x, y, width and height. */
  #rect: readonly number[] = [];

  /** The elements that were drawn, a line each. */
  get elements(): string {
    return this.#elements.join('\n');
  }

  save(): void {
    const { fillStyle, strokeStyle, lineWidth, font, textAlign, textBaseline, globalAlpha } = this;
    const style = { fillStyle, strokeStyle, lineWidth, font, textAlign, textBaseline, globalAlpha };
    this.#saved.push({ ...style, dash: this.#dash, x: this.#x, y: this.#y, clips: this.#clips });
  }

  restore(): void {
    const { dash, x, y, clips, ...style } = this.#saved.pop()!;
    for (; this.#clips > clips; this.#clips--) this.#elements.push('</svg>');
    Object.assign(this, style);
    [this.#dash, this.#x, this.#y] = [dash, x, y];
  }

  translate(x: number, y: number): void {
    this.#x += x;
    this.#y += y;
  }

  setLineDash(dash: readonly number[]): void {
    this.#dash = dash;
  }

  beginPath(): void {
    this.#path = '';
  }

  moveTo(x: number, y: number): void {
    this.#path += `M${this.#point(x, y)}`;
  }

  lineTo(x: number, y: number): void {
    this.#path += `L${this.#point(x, y)}`;
  }

  rect(x: number, y: number, width: number, height: number): void {
    this.#path += `M${this.#point(x, y)}h${rounded(width)}v${rounded(height)}h${rounded(-width)}z`;
    this.#rect = [this.#x + x, this.#y + y, width, height].map(rounded);
  }

  /** Clips to the rectangle of the path: an inner svg element clips what it contains. */
  clip(): void {
    const [x, y, width, height] = this.#rect;
    this.#elements.push(
      `<svg x="${x}" y="${y}" width="${width}" height="${height}" viewBox="${this.#rect.join(' ')}">`,
    );
    this.#clips++;
  }

  fill(): void {
    this.#elements.push(`<path d="${this.#path}" fill="${this.fillStyle}"${this.#opacity()}/>`);
  }

  stroke(): void {
    this.#elements.push(`<path d="${this.#path}" fill="none"${this.#stroke()}/>`);
  }

  fillRect(x: number, y: number, width: number, height: number): void {
    this.#elements.push(`<rect${this.#box(x, y, width, height)} fill="${this.fillStyle}"${this.#opacity()}/>`);
  }

  strokeRect(x: number, y: number, width: number, height: number): void {
    this.#elements.push(`<rect${this.#box(x, y, width, height)} fill="none"${this.#stroke()}/>`);
  }

  fillText(text: string, x: number, y: number): void {
    const { isBold, size } = this.#fontParts();
    const weight = isBold ? ' font-weight="bold"' : '';
    const anchor = this.textAlign === 'start' ? '' : ` text-anchor="${anchors[this.textAlign]}"`;
    const baseline = this.textBaseline === 'middle' ? ' dominant-baseline="central"' : '';
    const [left, top] = [this.#x + x, this.#y + y].map(rounded);
    this.#elements.push(
      `<text x="${left}" y="${top}" font-size="${size}"${weight}${anchor}${baseline} fill="${this.fillStyle}">${escaped(text)}</text>`,
    );
  }

  /** An estimate: fonts differ from machine to machine. */
  measureText(text: string): { readonly width: number } {
    const { isBold, size } = this.#fontParts();
    return { width: text.length * size * (isBold ? 0.65 : 0.58) };
  }

  #fontParts(): { readonly isBold: boolean; readonly size: number } {
    return { isBold: this.font.startsWith('bold'), size: Number(/(\d+)px/.exec(this.font)![1]) };
  }

  #point(x: number, y: number): string {
    return `${rounded(this.#x + x)} ${rounded(this.#y + y)}`;
  }

  #box(x: number, y: number, width: number, height: number): string {
    const [left, top] = [this.#x + x, this.#y + y].map(rounded);
    return ` x="${left}" y="${top}" width="${rounded(width)}" height="${rounded(height)}"`;
  }

  #stroke(): string {
    const dash = this.#dash.length === 0 ? '' : ` stroke-dasharray="${this.#dash.join(' ')}"`;
    return ` stroke="${this.strokeStyle}" stroke-width="${this.lineWidth}"${dash}${this.#opacity()}`;
  }

  #opacity(): string {
    return this.globalAlpha === 1 ? '' : ` opacity="${this.globalAlpha}"`;
  }
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10 + 0;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
