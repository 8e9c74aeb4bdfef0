// Lines over steps, by uPlot: what several of them share here, so that all zoom together, and can be used by keyboard.
import uPlot from 'uplot';
import { color, el, number, seenFirst, tooltip } from './dom.js';
import { state, set } from './state.js';
import { wheelPan } from './heat.js';

// `curves`: [{ label, color, dash, x: [], y: [], low: [], high: [], band: bool, faint: [] , hidden }], x ascending in each.
// `marks`: steps at which rules found something.  `full`: the steps of all pictures.
export class Lines {
    constructor({ label, full, height = 220, log = false, asinh = false, unit = '' }) {
        Object.assign(this, { label, full, height, log, asinh, unit });
        this.holder = el('div', { class: 'lines-plot', tabIndex: 0, role: 'application', 'aria-roledescription': 'line chart', 'aria-label': `${label}. Left and right arrow keys move along the steps.` });
        this.keys = el('div', { class: 'legend', role: 'group', 'aria-label': 'Curves of ' + label });
        this.box = el('div', { class: 'lines' }, this.holder, this.keys);
        this.setRange = seenFirst(this.box, () => this.showRange());
        this.holder.addEventListener('keydown', (event) => this.key(event));
        this.holder.addEventListener('blur', () => tooltip.hide());
        this.holder.addEventListener('wheel', (event) => wheelPan(event, state.range || this.full, this.plot && this.plot.bbox.width / devicePixelRatio), { passive: false });
    }

    // All curves on the same steps, as uPlot wants them.
    static align(curves) {
        const all = new Set();
        for (const curve of curves) for (const x of curve.x) all.add(x);
        const xs = Float64Array.from(all).sort();
        const place = new Map(Array.from(xs, (x, i) => [x, i]));
        const spread = (curve, values) => {
            const out = new Array(xs.length).fill(undefined); // uPlot draws over what is undefined, and breaks at null
            for (let i = 0; i < curve.x.length; ++i) out[place.get(curve.x[i])] = Number.isFinite(values[i]) ? values[i] : null;
            return out;
        };
        return [xs, spread];
    }

    draw(curves, marks = []) {
        this.destroy();
        this.curves = curves;
        const [xs, spread] = Lines.align(curves);
        this.xs = xs;
        const data = [xs];
        const series = [{}];
        const bands = [];
        const positive = (values) => (this.log ? values.map((v) => (v > 0 ? v : v === undefined ? undefined : null)) : values);
        for (const curve of curves) {
            const stroke = curve.color;
            const shown = !curve.hidden;
            curve.first = series.length;
            const add = (values, options) => {
                data.push(positive(spread(curve, values)));
                series.push({ show: shown, points: { show: false }, spanGaps: false, pxAlign: 0, ...options });
            };
            for (const [low, high, strength] of curve.bands || []) {
                bands.push({ series: [series.length, series.length + 1], fill: stroke + strength });
                add(high, { stroke: 'transparent', width: 0, spanGaps: curve.spanGaps });
                add(low, { stroke: 'transparent', width: 0, spanGaps: curve.spanGaps });
            }
            if (curve.faint) add(curve.faint, { stroke: stroke + '55', width: 1 });
            curve.main = series.length;
            const few = curve.x.length <= 40;
            add(curve.y, { stroke, width: curve.width || 1.75, dash: curve.dash, spanGaps: curve.spanGaps, points: { show: few && curve.points !== false, size: 5, fill: stroke, stroke } });
            curve.end = series.length;
        }
        const axis = { stroke: color('muted'), grid: { stroke: color('line'), width: 1 }, ticks: { stroke: color('line'), width: 1, size: 4 }, font: '11px system-ui, sans-serif' };
        const self = this;
        this.plot = new uPlot(
            {
                width: Math.max(this.holder.clientWidth, 200),
                height: this.height,
                padding: [8, 8, 0, 0],
                legend: { show: false },
                cursor: { sync: { key: 'steps', setSeries: false, scales: ['x', null] }, drag: { x: true, y: false, dist: 5, setScale: false }, points: { size: 7 }, focus: { prox: 24 } },
                scales: {
                    x: { time: false, range: () => state.range || (self.full[1] > self.full[0] ? self.full : [self.full[0] - 1, self.full[0] + 1]) },
                    y: { distr: this.log ? 3 : this.asinh ? 4 : 1, asinh: this.asinh || 1, range: this.log ? logRange : undefined },
                },
                axes: [
                    { ...axis, size: 30, gap: 4, space: 64, incrs: [1, 2, 5].flatMap((m) => Array.from({ length: 12 }, (_, i) => m * 10 ** i)).sort((a, b) => a - b), values: (_, at) => at.map(String) },
                    { ...axis, size: 58, gap: 4, grid: { ...axis.grid, filter: (u, at) => (this.log || this.asinh ? powersOnly(at) : at) }, ticks: { show: false }, values: (_, at) => thinned(at, this.log || this.asinh) },
                ],
                series,
                bands,
                hooks: {
                    setSelect: [
                        (u) => {
                            if (u.select.width > 4) {
                                const range = [u.posToVal(u.select.left, 'x'), u.posToVal(u.select.left + u.select.width, 'x')];
                                u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
                                if (range[1] - range[0] >= 0.5) set({ range });
                            }
                        },
                    ],
                    setCursor: [(u) => this.tell(u)],
                    draw: [(u) => this.drawMarks(u, marks)],
                },
            },
            data,
            this.holder,
        );
        const over = this.plot.over;
        over.addEventListener('dblclick', () => set({ range: null }));
        over.addEventListener('pointerenter', () => (this.inside = true));
        over.addEventListener('pointerleave', () => {
            this.inside = false;
            tooltip.hide();
        });
        over.addEventListener('pointermove', (event) => (this.pointer = [event.clientX, event.clientY]));
        this.drawLegend();
    }

    drawLegend() {
        this.keys.replaceChildren(
            ...(this.curves.length > 1 || this.curves.some((c) => c.hidden)
                ? this.curves.map((curve) => {
                      const line = el('i', { class: curve.dash ? 'dashed' : '' });
                      line.style.borderColor = curve.color;
                      return el('button', { type: 'button', class: 'key', 'aria-pressed': String(!curve.hidden), onclick: () => this.toggle(curve) }, line, curve.label);
                  })
                : []),
        );
    }

    toggle(curve) {
        curve.hidden = !curve.hidden;
        for (let i = curve.first; i < curve.end; ++i) this.plot.setSeries(i, { show: !curve.hidden });
        this.drawLegend();
        if (this.onToggle) this.onToggle(curve);
    }

    drawMarks(u, marks) {
        const context = u.ctx;
        const { top, height, left, width } = u.bbox;
        const ratio = devicePixelRatio || 1;
        context.save();
        context.beginPath();
        context.rect(left, 0, width, top + height + 1);
        context.clip();
        context.fillStyle = color('bad');
        let last = -Infinity;
        for (const step of marks) {
            const x = u.valToPos(step, 'x', true);
            if (x - last < 2 * ratio) continue;
            last = x;
            context.beginPath();
            context.moveTo(x, top + height - 7 * ratio);
            context.lineTo(x - 3.5 * ratio, top + height);
            context.lineTo(x + 3.5 * ratio, top + height);
            context.fill();
        }
        if (state.step !== null) {
            const x = u.valToPos(state.step, 'x', true);
            context.strokeStyle = color('text');
            context.setLineDash([3 * ratio, 3 * ratio]);
            context.lineWidth = ratio;
            context.beginPath();
            context.moveTo(x, top);
            context.lineTo(x, top + height);
            context.stroke();
        }
        context.restore();
    }

    // The bubble at the cursor: what each curve has at the step nearest to it.
    tell(u, place = this.pointer) {
        if ((!this.inside && !this.byKey) || u.cursor.idx === null || u.cursor.idx === undefined || !place) return;
        const x = this.xs[u.cursor.idx];
        const lines = this.curves.filter((curve) => !curve.hidden).flatMap((curve) => {
            const i = nearest(curve.x, x);
            if (i < 0 || curve.x[i] !== x) return [];
            return [(curve.text && curve.text(i)) || `${curve.label}: ${number(curve.y[i])}`];
        });
        if (lines.length) tooltip.show(place[0], place[1], [`step ${x}`, ...lines.slice(0, 14)]);
        else tooltip.hide();
    }

    key(event) {
        const step = { ArrowLeft: -1, ArrowRight: 1, Home: -1e9, End: 1e9 }[event.key];
        if (event.key === 'Escape') tooltip.hide();
        if (!step || !this.plot || !this.xs.length) return;
        event.preventDefault();
        const [from, to] = state.range || this.full;
        const least = Math.max(this.xs.findIndex((x) => x >= from), 0);
        const most = this.xs.reduce((last, x, i) => (x <= to ? i : last), 0);
        this.index = Math.min(Math.max((this.index ?? least - Math.sign(step)) + step, least), most);
        this.byKey = true;
        const left = this.plot.valToPos(this.xs[this.index], 'x');
        const rect = this.plot.over.getBoundingClientRect();
        this.pointer = [rect.left + left, rect.top + rect.height / 3];
        this.plot.setCursor({ left, top: rect.height / 3 });
        this.byKey = false;
    }

    showRange() {
        const [min, max] = state.range || this.full;
        if (this.plot) this.plot.setScale('x', { min, max });
    }
    resize() {
        if (this.plot && this.holder.clientWidth > 0) this.plot.setSize({ width: this.holder.clientWidth, height: this.height });
    }
    redraw() {
        if (this.plot) this.plot.redraw(false);
    }
    destroy() {
        if (this.plot) this.plot.destroy();
        this.plot = null;
    }
}

function logRange(u, min, max) {
    if (!(min > 0) || !(max > 0)) return [0.1, 1];
    return min === max ? [min / 2, max * 2] : [min / 1.15, max * 1.15];
}

// Of a logarithmic axis only the powers of ten have numbers, where there are some.
function thinned(at, log) {
    const powers = at.filter((v) => v && isPower(v));
    return at.map((v) => (v === null ? '' : log && powers.length > 1 && !isPower(v) ? '' : number(v)));
}

const isPower = (v) => v === 0 || Math.abs(Math.log10(Math.abs(v)) - Math.round(Math.log10(Math.abs(v)))) < 1e-6;

// The same for lines across the picture.
function powersOnly(at) {
    const powers = at.filter((v) => v !== null && isPower(v));
    return powers.length > 1 ? at.map((v) => (v !== null && isPower(v) ? v : null)) : at;
}

function nearest(xs, x) {
    let low = 0;
    let high = xs.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (xs[middle] < x) low = middle + 1;
        else high = middle;
    }
    return low < xs.length ? low : xs.length - 1;
}

// An average that forgets: `share` of what it was stays.
export function smoothed(values, share) {
    let sum = 0;
    let weight = 0;
    return values.map((value) => {
        if (!Number.isFinite(value)) return value;
        sum = sum * share + (1 - share) * value;
        weight = weight * share + (1 - share);
        return sum / weight;
    });
}
