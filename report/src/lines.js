// Lines over steps, by uPlot: what several of them share here, so that all zoom together, and can be used by keyboard.
import uPlot from 'uplot';
import { color, el, number, seenFirst, stepWidth, tooltip } from './dom.js';
import { state, set } from './state.js';
import { wheelPan } from './heat.js';

const STRONG = '40'; // how much covers what lies behind, of a healthy range
const FAINT = '17'; // and out to the bounds

// `curves`: [{ label, color, dash, x: [], y: [], low: [], high: [], band: bool, faint: [] , hidden }], x ascending in each; or, of bandCurve(),
// what lies behind them.
// `found`: steps at which rules found something; `lost`: at which a value is NaN or infinite.  `full`: the steps of all pictures.
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

    draw(curves, found = [], lost = lostSteps(curves)) {
        this.destroy();
        this.curves = curves;
        this.marks = { found, lost };
        const scale = plotScale(curves, this.log);
        const log = this.log && !scale.isLog;
        const [xs, spread] = Lines.align(curves);
        this.xs = xs;
        const data = [xs];
        const series = [{}];
        const bands = [];
        // A point between two gaps is no line.
        const alone = (values) => values.flatMap((v, i) => (Number.isFinite(v) && beside(values, i, -1) === null && beside(values, i, 1) === null ? [i] : []));
        const plotted = (values) => values.map((v) => (v === undefined || v === null ? v : this.log && !(v > 0) ? null : scale.to(v)));
        for (const curve of curves) {
            const stroke = curve.color;
            const shown = !curve.hidden;
            curve.first = series.length;
            const add = (values, options) => {
                data.push(plotted(spread(curve, values)));
                series.push({ show: shown, points: { show: false }, spanGaps: false, pxAlign: 0, ...options });
            };
            if (curve.area) {
                for (const values of valuesOf(curve)) add(values, { stroke: 'transparent', width: 0 }); // the axis shows them
                curve.end = series.length;
                continue;
            }
            for (const [low, high, strength] of curve.bands || []) {
                bands.push({ series: [series.length, series.length + 1], fill: stroke + strength });
                add(high, { stroke: 'transparent', width: 0, spanGaps: curve.spanGaps });
                add(low, { stroke: 'transparent', width: 0, spanGaps: curve.spanGaps });
            }
            if (curve.faint) add(curve.faint, { stroke: stroke + '55', width: 1 });
            curve.main = series.length;
            const few = curve.x.length <= 40;
            const points = curve.points === false ? { show: false } : { show: true, size: 5, fill: stroke, stroke };
            add(curve.y, { stroke, width: curve.width || 1.75, dash: curve.dash, spanGaps: curve.spanGaps, points: few || !points.show ? points : { ...points, filter: (u, at) => alone(u.data[at]) } });
            curve.end = series.length;
        }
        const axis = { stroke: color('muted'), grid: { stroke: color('line'), width: 1 }, ticks: { stroke: color('line'), width: 1, size: 4 }, font: '11px system-ui, sans-serif' };
        const { full } = this;
        this.plot = new uPlot(
            {
                width: Math.max(this.holder.clientWidth, 200),
                height: this.height,
                padding: [8, Math.max(8, stepWidth(full[1]) / 2 - 8), 0, 0], // the last label is centred below its step
                legend: { show: false },
                cursor: { sync: { key: 'steps', setSeries: false, scales: ['x', null] }, drag: { x: true, y: false, dist: 5, setScale: false }, points: { size: 7 }, focus: { prox: curves.some((curve) => curve.area) ? -1 : 24 } },
                scales: {
                    x: { time: false, range: () => state.range || (full[1] > full[0] ? full : [full[0] - 1, full[0] + 1]) },
                    y: { distr: log ? 3 : this.asinh && !this.log ? 4 : 1, asinh: this.asinh ? scale.to(this.asinh) : 1, range: log ? logRange : undefined },
                },
                axes: [
                    { ...axis, size: 30, gap: 4, space: (u, which, min, max) => stepWidth(max), incrs: [1, 2, 5].flatMap((m) => Array.from({ length: 19 }, (_, i) => m * 10 ** i)).sort((a, b) => a - b), values: (_, at) => at.map(String) },
                    { ...axis, size: (u, texts) => Math.max(58, ...(texts || []).map((text) => text.length * 7 + 8)), gap: 4, splits: log ? logSplits : undefined, grid: { ...axis.grid, filter: (u, at) => (log || this.asinh ? powersOnly(at) : at) }, ticks: { show: false }, values: (_, at) => thinned(at, log || this.asinh, scale.from) },
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
                    drawAxes: [(u) => this.drawAreas(u, (value) => (log && value <= 0 ? null : scale.to(value)))],
                    draw: [(u) => this.drawMarks(u)],
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
                      const line = el('i', { class: curve.area ? 'area' : curve.dash ? 'dashed' : '' });
                      line.style.borderColor = curve.color;
                      if (curve.area) line.style.background = curve.color + STRONG;
                      return el('button', { type: 'button', class: 'key', 'aria-pressed': String(!curve.hidden), onclick: () => this.toggle(curve) }, line, curve.label);
                  })
                : []),
            ...(this.curves.some((c) => c.area && !c.hidden && c.area.some((one) => one.lower > -Infinity || one.upper < Infinity)) ? [el('span', { class: 'mark-key' }, el('i', { class: 'bound' }), ' beyond: a finding')] : []),
            ...(this.curves.some((c) => c.area && !c.hidden && c.found.some((v) => v !== null)) ? [el('span', { class: 'mark-key' }, el('i', { class: 'ring' }), ' the first beyond')] : []),
            ...(this.marks.found.length ? [el('span', { class: 'mark-key' }, el('b', { class: 'bad', text: '\u25b2' }), ' a rule found something')] : []),
            ...(this.marks.lost.length ? [el('span', { class: 'mark-key' }, el('b', { class: 'lost', text: '\u2715' }), ' NaN or infinite')] : []),
        );
    }

    toggle(curve) {
        curve.hidden = !curve.hidden;
        for (let i = curve.first; i < curve.end; ++i) this.plot.setSeries(i, { show: !curve.hidden });
        this.drawLegend();
        if (this.onToggle) this.onToggle(curve);
    }

    // What lies behind the lines: ranges, out to the bounds fainter; a side without a bound is open.
    drawAreas(u, to) {
        const context = u.ctx;
        const { top, height, left, width } = u.bbox;
        const ratio = devicePixelRatio || 1;
        const bottom = top + height;
        const y = (value) => (to(value) === null ? bottom : Math.min(Math.max(u.valToPos(to(value), 'y', true), top - 9), bottom + 9));
        context.save();
        context.beginPath();
        context.rect(left, top, width, height);
        context.clip();
        for (const curve of this.curves) {
            if (!curve.area || curve.hidden) continue;
            const trace = (part, key) => part.flatMap((one) => [one.from, one.to].map((x) => [u.valToPos(x, 'x', true), y(one[key])]));
            const path = (points) => {
                context.beginPath();
                points.forEach(([x, at]) => context.lineTo(x, at));
            };
            for (const [low, high, strength] of [['least', 'greatest', STRONG], ['lower', 'least', FAINT], ['greatest', 'upper', FAINT]]) {
                for (const part of stretches(curve.area, (one) => Number.isFinite(one[low]) && Number.isFinite(one[high]))) {
                    path([...trace(part, high), ...trace(part, low).reverse()]);
                    context.fillStyle = curve.color + strength;
                    context.fill();
                    if (strength !== STRONG) continue;
                    context.strokeStyle = curve.color + '80'; // where they were all the same, it is all there is
                    context.lineWidth = ratio;
                    context.setLineDash([]);
                    context.closePath();
                    context.stroke();
                }
            }
            context.strokeStyle = curve.color;
            context.globalAlpha = 0.75;
            context.lineWidth = ratio;
            context.setLineDash([5 * ratio, 4 * ratio]);
            for (const key of ['lower', 'upper']) {
                for (const part of stretches(curve.area, (one) => Number.isFinite(one[key]))) {
                    path(trace(part, key));
                    context.stroke();
                }
            }
            context.globalAlpha = 1;
        }
        context.restore();
    }

    drawMarks(u) {
        const context = u.ctx;
        const { top, height, left, width } = u.bbox;
        const ratio = devicePixelRatio || 1;
        context.save();
        context.beginPath();
        context.rect(left, 0, width, top + height + 1);
        context.clip();
        context.fillStyle = color('bad');
        let last = -Infinity;
        for (const step of this.marks.found) {
            const x = u.valToPos(step, 'x', true);
            if (x - last < 2 * ratio) continue;
            last = x;
            context.beginPath();
            context.moveTo(x, top + height - 7 * ratio);
            context.lineTo(x - 3.5 * ratio, top + height);
            context.lineTo(x + 3.5 * ratio, top + height);
            context.fill();
        }
        drawCrosses(context, this.marks.lost.map((step) => u.valToPos(step, 'x', true)), top + 6 * ratio, ratio);
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
        this.drawRings(u);
    }

    // Around the numbers that are findings.
    drawRings(u) {
        const context = u.ctx;
        const ratio = devicePixelRatio || 1;
        context.strokeStyle = color('bad');
        context.lineWidth = 2 * ratio;
        for (const curve of this.curves) {
            if (!curve.area || curve.hidden) continue;
            curve.x.forEach((step, i) => {
                const value = u.data[curve.end - 1][this.xs.indexOf(step)]; // in the axis' unit
                const x = u.valToPos(step, 'x', true);
                if (curve.found[i] === null || value === null || x < u.bbox.left || x > u.bbox.left + u.bbox.width) return;
                context.beginPath();
                context.arc(x, u.valToPos(value, 'y', true), 5.5 * ratio, 0, 2 * Math.PI);
                context.stroke();
            });
        }
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

// Crosses at these places, for NaN and infinity.
export function drawCrosses(context, places, y, ratio) {
    const arm = 3.5 * ratio;
    context.strokeStyle = color('heat-bad');
    context.lineWidth = 1.75 * ratio;
    let last = -Infinity;
    context.beginPath();
    for (const x of places) {
        if (x - last < 2 * ratio) continue;
        last = x;
        context.moveTo(x - arm, y - arm);
        context.lineTo(x + arm, y + arm);
        context.moveTo(x - arm, y + arm);
        context.lineTo(x + arm, y - arm);
    }
    context.stroke();
}

// Those that fit, in stretches of neighbouring buckets.
function stretches(area, fits) {
    const all = [];
    let bucket = -2;
    for (const one of area) {
        if (!fits(one)) continue;
        if (one.bucket === bucket + 1) all[all.length - 1].push(one);
        else all.push([one]);
        bucket = one.bucket;
    }
    return all;
}

// The next value in a direction that is not spanned; null: a gap, or the end.
function beside(values, from, by) {
    let i = from + by;
    while (values[i] === undefined && i >= 0 && i < values.length) i += by;
    return values[i] ?? null;
}

const valuesOf = (curve) => [curve.y, ...(curve.reach || []), ...(curve.bands || []).flatMap(([low, high]) => [low, high])];

function lostSteps(curves) {
    const steps = new Set();
    for (const curve of curves) for (const values of valuesOf(curve)) values.forEach((v, i) => typeof v === 'number' && !Number.isFinite(v) && steps.add(curve.x[i]));
    return [...steps].sort((a, b) => a - b);
}

// uPlot's axes have numbers from 1e-32 to 1e32: what lies beyond is drawn in another unit, on a logarithmic axis as its logarithm.
function plotScale(curves, log) {
    let least = Infinity;
    let most = 0;
    for (const curve of curves) {
        for (const values of valuesOf(curve)) {
            for (const value of values) {
                const size = Math.abs(value);
                if (!(size > 0 && size < Infinity)) continue;
                least = Math.min(least, size);
                most = Math.max(most, size);
            }
        }
    }
    if (log && (most > 1e30 || least < 1e-30)) return { isLog: true, to: Math.log10, from: (v) => 10 ** v };
    if (log || most === 0 || (most < 1e15 && most > 1e-15)) return { to: (v) => v, from: (v) => v };
    const unit = Math.max(10 ** Math.floor(Math.log10(most)), Number.MIN_VALUE);
    return { to: (v) => v / unit, from: (v) => v * unit };
}

function logRange(u, min, max) {
    if (!(min > 0) || !(max > 0)) return [0.1, 1];
    return min === max ? [min / 2, max * 2] : [min / 1.15, max * 1.15];
}

// One to nine times each power of ten.  uPlot's own begin at the least value, and rounding may lead them back to it for ever.
function logSplits(u, axis, min, max) {
    const all = [];
    for (let power = Math.floor(Math.log10(min)); power <= Math.log10(max); ++power) for (let m = 1; m < 10; ++m) all.push(Number(`${m}e${power}`));
    const inside = all.filter((v) => v >= min && v <= max);
    return inside.length > 1 ? inside : [min, max];
}

// Of a logarithmic axis only the powers of ten have numbers, where there are some.
function thinned(at, log, from) {
    const powers = at.filter((v) => v && isPower(v));
    return at.map((v) => (v === null || !Number.isFinite(from(v)) ? '' : log && powers.length > 1 && !isPower(v) ? '' : number(from(v))));
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
