// One tensor: its numbers over the steps, how its values are distributed, and its workers side by side.
import { bandCurve, columnsOf, nameOfNumber } from './bands.js';
import { METRICS, bucketAt, mergedColumn, metric, seriesOf, stepText } from './data.js';
import { color, count, drawTicks, el, middle, number, oncePerFrame, plural, seenFirst, seriesColor, sizeCanvas, tooltip, viridis } from './dom.js';
import { Heat, Scale, legend } from './heat.js';
import { Lines, drawCrosses } from './lines.js';
import { marksOf } from './maps.js';
import { markedSteps } from './scalars.js';
import { on, set, state } from './state.js';
import { pictures } from './theme.js';

// The tensor to begin with: that of the first finding, else the first of the largest collection but all.
function firstTensor(run) {
    const some = run.findings.filter((each) => run.byTensor.has(each.tensor));
    const found = some.find((each) => !run.byTensor.get(each.tensor).every((one) => one.scalar)) || some[0];
    if (found) return run.tensors[found.tensor].name;
    const big = run.series.find((one) => !one.scalar) || run.series[0];
    return big ? run.tensors[big.tensor].name : null;
}

const pick = (column, size) => {
    const at = [];
    for (let i = 0; i < size; ++i) if (column.has(i)) at.push(i);
    return at;
};

// Buckets in which values are NaN or infinite.
const lostBuckets = (axis, series) => {
    const [nan, infinite] = [mergedColumn(series, 10, true), mergedColumn(series, 11, true)];
    const all = [];
    for (let i = 0; i < axis.first.length; ++i) if (nan.values[i] > 0 || infinite.values[i] > 0) all.push(i);
    return all;
};

// Rows of a histogram over steps: counts of each distribution spread over the same bins for all of them.
class Histogram {
    constructor(view) {
        this.view = view;
        this.canvas = el('canvas', { tabIndex: 0, role: 'application', 'aria-roledescription': 'histogram', 'aria-label': 'Histograms over steps. Left and right arrow keys move over the steps.' });
        this.box = el('div', { class: 'histogram' }, this.canvas);
        this.redraw = oncePerFrame(() => this.draw());
        this.canvas.addEventListener('pointermove', (event) => {
            const rect = this.canvas.getBoundingClientRect();
            this.tell(this.find(event.clientX - rect.left), event.clientX, event.clientY);
        });
        this.canvas.addEventListener('pointerleave', () => tooltip.hide());
        this.canvas.addEventListener('blur', () => tooltip.hide());
        this.canvas.addEventListener('dblclick', () => set({ range: null }));
        this.canvas.addEventListener('keydown', (event) => {
            const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
            if (!by || !this.all || !this.all.length) return;
            event.preventDefault();
            this.index = Math.min(Math.max((this.index ?? (by > 0 ? -1 : this.all.length)) + by, 0), this.all.length - 1);
            const rect = this.canvas.getBoundingClientRect();
            this.tell(this.all[this.index], rect.left + this.x(this.axis.first[this.all[this.index].bucket]), rect.top + 20);
        });
    }
    // `lost`: buckets in which values are NaN or infinite, so that they have no histogram.
    take(axis, all, lost) {
        this.axis = axis;
        this.lost = lost;
        this.all = all.slice().sort((a, b) => a.bucket - b.bucket);
        this.low = Math.min(...all.map((one) => one.low));
        this.high = Math.max(...all.map((one) => one.high));
        if (this.low === this.high) {
            const beside = Math.abs(this.low) / 2 || 0.5;
            this.low -= beside;
            this.high += beside;
        }
        this.draw();
    }
    // The steps shown; one alone stands in the middle.
    span() {
        const [from, to] = state.range || this.view.full;
        return to > from ? [from, to] : [from - 1, from + 1];
    }
    x(step) {
        const [from, to] = this.span();
        return this.left + ((step - from) / (to - from)) * this.width;
    }
    find(x) {
        if (!this.all) return null;
        return this.all.reduce((best, one) => {
            const far = Math.abs(this.x((this.axis.first[one.bucket] + this.axis.last[one.bucket]) / 2) - x);
            return !best || far < best.far ? { one, far } : best;
        }, null)?.one;
    }
    tell(one, x, y) {
        if (!one) return tooltip.hide();
        tooltip.show(x, y, [stepText(this.axis, one.bucket), `from ${number(one.low)} to ${number(one.high)}`, `quartiles ${number(one.q1)}, ${number(one.median)}, ${number(one.q3)}`]);
    }
    draw() {
        if (!this.box.isConnected || !this.all || !this.box.clientWidth) return;
        const height = 220;
        const full = this.box.clientWidth;
        const context = sizeCanvas(this.canvas, full, height);
        const values = this.squeeze ? powersOfTen(this.low, this.high, this.squeeze) : ticksOfValues(this.low, this.high);
        this.left = Math.max(58, ...values.map((value) => number(value).length * 7 + 12));
        this.width = full - this.left - 8;
        const top = 8;
        const tall = height - top - 30;
        context.clearRect(0, 0, full, height);
        context.fillStyle = color('heat-empty');
        context.fillRect(this.left, top, this.width, tall);
        const [from, to] = this.span();
        const place = this.squeeze ? (value) => Math.asinh(value / this.squeeze) : (value) => value;
        const span = place(this.high) - place(this.low) || 1;
        const y = (value) => top + tall * (1 - (place(value) - place(this.low)) / span);
        context.save();
        context.beginPath();
        context.rect(this.left, top, this.width, tall);
        context.clip();
        this.all.forEach((one, i) => {
            const center = (at) => (this.axis.first[at.bucket] + this.axis.last[at.bucket]) / 2;
            const here = center(one);
            const alone = (to - from) / 20; // without neighbours: to be seen, and not all there is
            const before = i > 0 ? (here + center(this.all[i - 1])) / 2 : i + 1 < this.all.length ? here - (center(this.all[i + 1]) - here) / 2 : here - alone;
            const after = i + 1 < this.all.length ? (here + center(this.all[i + 1])) / 2 : here + (here - before);
            const x0 = Math.floor(this.x(before));
            const x1 = Math.max(Math.ceil(this.x(after)), x0 + 1);
            const step = (one.high - one.low) / one.counts.length;
            one.counts.forEach((n, bin) => {
                if (!n) return;
                const y1 = y(one.low + bin * step);
                const y0 = y(one.low + (bin + 1) * step);
                context.fillStyle = `rgb(${viridis(Math.sqrt(n / 255)).join()})`;
                context.fillRect(x0, Math.min(y0, y1 - 1), x1 - x0, Math.max(y1 - y0, 1) + 0.5);
            });
        });
        drawCrosses(context, this.lost.map((bucket) => this.x(this.axis.first[bucket])), top + tall - 6, 1);
        context.restore();
        context.font = '11px system-ui, sans-serif';
        context.fillStyle = color('muted');
        context.textAlign = 'right';
        context.textBaseline = 'middle';
        let above = Infinity;
        for (const value of values) {
            if (above - y(value) < 14) continue;
            above = y(value);
            context.fillText(number(value), this.left - 8, above);
        }
        drawTicks(context, from, to, this.left, this.left + this.width, top + tall + 16);
    }
}

// 0 and powers of ten of both signs, from `low` to `high`.
function powersOfTen(low, high, least) {
    const all = [0];
    for (let at = 10 ** Math.ceil(Math.log10(least)); at <= Math.max(Math.abs(low), Math.abs(high)); at *= 10) all.push(at, -at);
    return all.filter((value) => value >= low && value <= high).sort((a, b) => a - b);
}

function ticksOfValues(low, high) {
    const span = high - low;
    if (!(span > 0)) return [low];
    const power = 10 ** Math.floor(Math.log10(span / 4));
    const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= span / 5);
    const all = [];
    for (let at = Math.ceil(low / step); at * step <= high + step * 1e-9; ++at) all.push(Number((at * step).toPrecision(12)));
    return all;
}

export function tensorPart(view) {
    const part = el('section', { id: 'tensor-part', 'aria-labelledby': 'tensor-title' });
    const title = el('h2', { id: 'tensor-title' });
    const facts = el('p', { class: 'muted facts' });
    const list = el('datalist', { id: 'tensor-names' });
    const search = el('input', { type: 'search', list: 'tensor-names', 'aria-label': 'Tensor', placeholder: 'name of a tensor', autocomplete: 'off', spellcheck: 'false' });
    const mode = el('select', { 'aria-label': 'Mode of the tensor', onchange: () => set({ mode: mode.value }) });
    const modeLabel = el('label', {}, 'Mode ', mode);
    const found = el('ul', { class: 'notes' });
    const asinh = el('input', { type: 'checkbox' });
    const values = new Lines({ label: 'Values', full: view.full, height: 240 });
    const sizes = new Lines({ label: 'Sizes', full: view.full, height: 240, log: true });
    const others = new Lines({ label: 'Runs', full: view.full, height: 240, log: true });
    const histogram = new Histogram(view);
    let beside = []; // pictures of numbers beside healthy runs
    const besideGrid = el('div', { class: 'grid two beside' });
    let allBands = false;
    const moreBands = el('button', { type: 'button', class: 'more', onclick: () => ((allBands = true), redraw()) });
    const workersKey = el('div', {});
    const workersNote = el('p', { class: 'muted' });
    const run = () => view.runs[state.run];
    const place = () => (run().tensorPlace.has(state.tensor) ? run().tensorPlace.get(state.tensor) : -1);
    let squeezed = null; // as it was chosen
    let squeeze = 0;
    let axisPlace = 0;
    let rows = [];
    let workersScale = new Scale(false);
    const what = () => (metric(state.metric).positive ? metric(state.metric) : METRICS[0]);
    const workers = new Heat({
        label: 'Workers',
        rowLabel: 'worker',
        axisOf: () => run().axes[axisPlace],
        scaleOf: () => workersScale,
        rowsOf: () => rows,
        pick: (row, step) => set({ step }),
        lines: (row, bucket) => [row.column.has(bucket) ? `${what().label}: ${number(row.column.values[bucket])}` : 'not saved', row.marks.has(bucket) && 'differs from most others'],
    });
    const figure = (name, note, box) => el('figure', {}, el('figcaption', {}, el('span', { class: 'name', text: name }), note), box);
    const histogramNote = el('span', { class: 'chart-note' });
    const valuesFigure = figure('Values: smallest to largest, quartiles, mean', el('label', { class: 'chart-note' }, asinh, ' squeeze large values'), values.box);
    const sizesFigure = figure('Sizes (log)', null, sizes.box);
    const othersFigure = figure('The same tensor in all runs', null, others.box);
    const histogramFigure = figure('Histograms over steps', histogramNote, histogram.box);
    const workersFigure = el('figure', { class: 'wide' }, el('figcaption', {}, el('span', { class: 'name', text: 'Workers side by side' })), workersKey, workers.box, workersNote);

    const chooseAxis = () => {
        const all = run().axes;
        const with_ = all.map((_, i) => seriesOf(run(), place(), i, -1).length > 0);
        const wanted = all.findIndex((axis, i) => axis.mode === state.mode && with_[i]);
        const step = state.step;
        const at = step === null ? -1 : all.findIndex((axis, i) => with_[i] && bucketAt(axis, step) >= 0 && axis.last[bucketAt(axis, step)] >= step);
        axisPlace = wanted >= 0 ? wanted : at >= 0 ? at : Math.max(with_.indexOf(true), 0);
        mode.replaceChildren(...all.flatMap((axis, i) => (with_[i] ? [el('option', { value: axis.mode, text: axis.mode.toLowerCase(), selected: i === axisPlace })] : [])));
        modeLabel.hidden = mode.options.length < 2;
    };

    const redraw = () => {
        const here = run();
        if (place() < 0 && (state.tensor === null || view.runs.length < 2)) state.tensor = firstTensor(here);
        const tensor = place();
        title.textContent = view.runs.length > 1 ? `One tensor of ${here.name}` : 'One tensor';
        search.value = state.tensor || '';
        if (tensor < 0 || !here.byTensor.has(tensor)) {
            facts.textContent = state.tensor ? 'This run has not saved it, or it is not shown.' : '';
            for (const box of [valuesFigure, sizesFigure, othersFigure, histogramFigure, workersFigure, besideGrid, moreBands]) box.hidden = true;
            return;
        }
        chooseAxis();
        const axis = here.axes[axisPlace];
        const series = seriesOf(here, tensor, axisPlace, state.worker);
        const shown = series.length ? series : seriesOf(here, tensor, axisPlace, -1);
        const info = here.tensors[tensor];
        facts.textContent = [`${info.dtype ?? 'only reductions were saved,'} ${info.shape === undefined ? 'shape unknown' : info.shape || 'scalar'}${info.changes ? ', which changes' : ''}`, here.collections.filter((one) => one.tensors.includes(tensor)).map((one) => one.name).join(', '), state.worker >= 0 ? here.workers[state.worker] : here.workers.length > 1 ? `${here.workers.length} workers together` : ''].filter(Boolean).join(' \u00b7 ');
        const marks = markedSteps(here, tensor);
        const groups = here.findings.filter((each) => each.tensor === tensor);
        found.replaceChildren(...groups.slice(0, 8).map((each) => el('li', { class: 'bad' }, el('button', { type: 'button', class: 'link', text: `step ${count(each.first)}`, onclick: () => set({ step: each.first }) }), ` ${here.rules[each.rule].name}${each.worker && here.workers.length > 1 ? ', ' + each.worker : ''}${each.count > 1 ? `, ${plural(each.count, 'time')} up to step ${count(each.last)}` : ''}: ${each.message}`)));
        drawBeside(axis, shown, tensor);
        drawValues(axis, shown, marks);
        drawSizes(axis, shown, marks);
        drawOthers();
        if (valuesFigure.hidden && sizesFigure.hidden && info.dtype === undefined) facts.textContent += ' \u00b7 of the numbers shown here none was saved';
        const spread = shown[0].distributions;
        histogramFigure.hidden = !spread.length;
        if (spread.length) {
            histogram.squeeze = squeeze;
            const lost = lostBuckets(axis, [shown[0]]);
            const note = [`of ${plural(spread.length, 'step')}`, shown.length > 1 ? here.workers[shown[0].worker] : '', here.sampled ? 'large tensors by 4,096 of their elements' : ''].filter(Boolean).join('; ');
            histogramNote.replaceChildren(note, lost.length ? el('span', { class: 'mark-key' }, '; ', el('b', { class: 'lost', text: '\u2715' }), ` NaN or infinite at ${plural(lost.length, 'step')}: no histogram`) : '');
            histogram.take(axis, spread, lost);
        }
        drawWorkers(axis, tensor);
        const shownFigures = [valuesFigure, sizesFigure, histogramFigure, othersFigure].filter((each) => !each.hidden);
        for (const each of [valuesFigure, sizesFigure, histogramFigure, othersFigure]) each.classList.toggle('whole', shownFigures.length % 2 === 1 && each === shownFigures[shownFigures.length - 1]);
        [values, sizes, others].forEach((chart) => chart.resize()); // a picture that is hidden leaves its room to others
        histogram.redraw();
    };

    // Each number that healthy runs are known of: its line, their range, and the bounds.  The first finding's is the first.
    const drawBeside = (axis, series, tensor) => {
        const here = run();
        beside.forEach((chart) => chart.destroy());
        beside = [];
        const firstFound = (band) => band.found.reduce((least, one) => Math.min(least, one.step), Number.MAX_VALUE);
        const bands = (here.bandsOf.get(tensor) || []).filter((band) => band.axis === axisPlace).sort((a, b) => firstFound(a) - firstFound(b));
        const pictures = bands.flatMap((band) => {
            const behind = bandCurve(band, axis, color('series-2'), '', state.worker >= 0 ? here.workers[state.worker] : '');
            if (!behind) return [];
            const [low, high] = columnsOf(band, series, here.tensors[tensor]) || [];
            const at = high ? pick(high, axis.first.length) : [];
            const line = { label: here.name, color: seriesColor(0), width: 2, x: at.map((b) => axis.first[b]), y: at.map((b) => (low.has(b) ? middle(low.values[b], high.values[b]) : high.values[b])) };
            if (at.some((b) => low.values[b] !== high.values[b] && low.has(b))) line.bands = [[at.map((b) => low.values[b]), at.map((b) => high.values[b]), '2e']];
            line.text = (i) => `${nameOfNumber(band)}: ${low.has(at[i]) && low.values[at[i]] !== high.values[at[i]] ? `${number(low.values[at[i]])} to ` : ''}${number(high.values[at[i]])}`;
            const numbers = [line.y, at.map((b) => low.values[b]), behind.y, ...behind.reach].flat().filter(Number.isFinite);
            // Nothing to be seen: always the same, as zeros are mostly none.
            if (!band.found.length && numbers.every((v) => v === numbers[0])) return [];
            return [{ band, behind, line, numbers }];
        });
        const most = allBands ? pictures.length : Math.max(4, pictures.filter((each) => each.band.found.length).length);
        moreBands.hidden = pictures.length <= most;
        moreBands.textContent = `Show all ${pictures.length} numbers beside healthy runs`;
        besideGrid.hidden = !pictures.length;
        besideGrid.replaceChildren(
            ...pictures.slice(0, most).map(({ band, behind, line, numbers }) => {
                const sizes = numbers.map(Math.abs).filter((v) => v > 0).sort((a, b) => a - b);
                const largest = sizes[sizes.length - 1];
                const log = band.number !== 'zeros' && numbers.every((v) => v > 0) && largest > 10 * sizes[0]; // what is too low is seen, too
                const far = !log && largest > 30 * sizes[sizes.length >> 1];
                const chart = new Lines({ label: `${nameOfNumber(band)} beside healthy runs`, full: view.full, height: 240, log, asinh: far ? sizes[sizes.length >> 1] / 4 : false });
                const note = [bands.some((other) => other.rule !== band.rule) ? here.rules[band.rule].name : '', log ? 'log' : '', line.x.length ? '' : 'of this run the report has not got it'].filter(Boolean).join('; ');
                chart.found = band.found.map((one) => one.step).filter((step) => bucketAt(axis, step) >= 0);
                chart.shown = line.x.length ? [line, behind] : [behind];
                beside.push(chart);
                return figure(`${nameOfNumber(band)} beside ${behind.runs}`, el('span', { class: 'chart-note', text: note }), chart.box);
            }),
        );
        beside.forEach((chart) => chart.draw(chart.shown, chart.found));
        [...besideGrid.children].forEach((each, i, all) => each.classList.toggle('whole', all.length % 2 === 1 && i === all.length - 1));
    };

    const drawValues = (axis, series, marks) => {
        const [low, high, meanLow, meanHigh] = [mergedColumn(series, 0, false), mergedColumn(series, 1, true), mergedColumn(series, 2, false), mergedColumn(series, 3, true)];
        const at = pick(meanHigh, axis.first.length);
        const edges = pick(high, axis.first.length).filter((i) => low.has(i));
        const xs = at.map((i) => axis.first[i]);
        const curves = [];
        const scalar = series.every((one) => one.scalar);
        if (at.length) {
            const mean = { label: scalar ? 'value' : 'mean', color: seriesColor(0), x: xs, y: at.map((i) => middle(meanLow.values[i], meanHigh.values[i])) };
            mean.text = (i) => `${mean.label}: ${meanLow.values[at[i]] === meanHigh.values[at[i]] ? number(meanHigh.values[at[i]]) : `${number(meanLow.values[at[i]])} to ${number(meanHigh.values[at[i]])}`}`;
            if (scalar && at.some((i) => meanLow.values[i] !== meanHigh.values[i])) mean.bands = [[at.map((i) => meanLow.values[i]), at.map((i) => meanHigh.values[i]), '2e']];
            curves.push(mean);
        }
        // Where only one of them was saved, it is a line.
        for (const [column, name, other] of scalar ? [] : [[low, 'smallest', high], [high, 'largest', low]]) {
            const only = pick(column, axis.first.length).filter((i) => !other.has(i));
            if (only.length) curves.push({ label: name, color: seriesColor(name === 'smallest' ? 5 : 4), x: only.map((i) => axis.first[i]), y: only.map((i) => column.values[i]) });
        }
        if (edges.length && !scalar) {
            const least = edges.map((i) => low.values[i]);
            const most = edges.map((i) => high.values[i]);
            curves.unshift({ label: 'smallest to largest', color: seriesColor(5), width: 0.001, points: false, x: edges.map((i) => axis.first[i]), y: most, bands: [[least, most, '38']], text: (i) => `from ${number(least[i])} to ${number(most[i])}` });
        }
        const spread = series[0].distributions;
        if (spread.length) {
            const sorted = spread.slice().sort((a, b) => a.bucket - b.bucket);
            curves.splice(edges.length && !scalar ? 1 : 0, 0, { label: 'quartiles and median', color: seriesColor(2), spanGaps: true, dash: [4, 3], width: 1.25, x: sorted.map((one) => axis.first[one.bucket]), y: sorted.map((one) => one.median), bands: [[sorted.map((one) => one.q1), sorted.map((one) => one.q3), '40']], text: (i) => `quartiles ${number(sorted[i].q1)}, ${number(sorted[i].median)}, ${number(sorted[i].q3)}` });
        }
        const finite = curves.some((curve) => curve.y.some(Number.isFinite));
        if (curves.length && !finite) facts.textContent += ' \u00b7 no finite value';
        if (!finite) curves.length = 0;
        valuesFigure.hidden = !curves.length || (scalar && beside.length > 0); // there is its value
        // Values that grow by orders of magnitude would leave nothing to be seen of the others.
        const sizesOfSteps = edges.map((i) => Math.max(Math.abs(low.values[i]), Math.abs(high.values[i]))).filter((v) => v > 0 && v < Infinity).sort((a, b) => a - b);
        const usual = sizesOfSteps[sizesOfSteps.length >> 1] || 1;
        if (squeezed === null) asinh.checked = sizesOfSteps.length > 0 && sizesOfSteps[sizesOfSteps.length - 1] > 30 * usual;
        squeeze = asinh.checked ? usual / 4 : 0;
        values.asinh = squeeze;
        if (curves.length) values.draw(curves, marks);
    };

    const drawSizes = (axis, series, marks) => {
        const curves = ['abs_mean', 'std', 'l2'].flatMap((id, i) => {
            const one = metric(id);
            const low = mergedColumn(series, one.lo, false);
            const high = mergedColumn(series, one.hi, true);
            const at = pick(high, axis.first.length).filter((b) => high.values[b] > 0);
            if (!at.length || series.every((s) => s.scalar)) return [];
            const curve = { label: one.label, color: seriesColor([0, 1, 3][i]), x: at.map((b) => axis.first[b]), y: at.map((b) => high.values[b]) };
            const least = at.map((b) => low.values[b]);
            if (least.some((v, j) => v !== curve.y[j] && v > 0)) curve.bands = [[least, curve.y, '2e']];
            return [curve];
        });
        const zeros = mergedColumn(series, 12, true);
        const lost = lostBuckets(axis, series);
        const most = pick(zeros, axis.first.length).reduce((sum, b) => Math.max(sum, zeros.values[b]), 0);
        sizesFigure.hidden = !curves.length;
        sizesFigure.querySelector('.chart-note')?.remove();
        const note = [most > 0 && !series.every((s) => s.scalar) ? `zeros: up to ${number(most * 100)} %` : '', lost.length ? `NaN or infinite at ${plural(lost.length, 'step')}` : ''].filter(Boolean).join('; ');
        if (note) sizesFigure.querySelector('figcaption').append(el('span', { class: 'chart-note' + (lost.length ? ' bad' : ''), text: note }));
        if (curves.length) sizes.draw(curves, marks, lost.map((b) => axis.first[b]));
    };

    const drawOthers = () => {
        othersFigure.hidden = view.runs.length < 2;
        if (othersFigure.hidden) return;
        const one = what();
        const curves = view.runs.flatMap((each, r) => {
            const tensor = each.tensorPlace.get(state.tensor);
            if (tensor === undefined) return [];
            return each.axes.flatMap((axis, a) => {
                if (axis.mode !== run().axes[axisPlace].mode) return [];
                const series = seriesOf(each, tensor, a, -1);
                if (!series.length) return [];
                const high = mergedColumn(series, one.hi, true);
                const at = pick(high, axis.first.length);
                return [{ label: each.name, color: seriesColor(r), x: at.map((b) => axis.first[b]), y: at.map((b) => high.values[b]) }];
            });
        });
        others.log = !one.linear;
        othersFigure.querySelector('.name').textContent = `${one.label} in all runs`;
        othersFigure.hidden = !curves.length;
        if (curves.length) others.draw(curves, []);
    };

    // A worker differs where it is not what most have: the median of all.
    const drawWorkers = (axis, tensor) => {
        const here = run();
        const series = seriesOf(here, tensor, axisPlace, -1);
        workersFigure.hidden = series.length < 2;
        if (workersFigure.hidden) return;
        const one = what();
        workersScale = new Scale(one.linear);
        rows = series.map((each) => ({ label: here.workers[each.worker], title: here.workers[each.worker], column: each.column(one.hi), marks: new Map(), tensor, chosen: () => state.worker === each.worker }));
        rows.sort((a, b) => a.label.localeCompare(b.label, 'en', { numeric: true }));
        rows.forEach((row) => workersScale.take(row.column));
        for (let b = 0; b < axis.first.length; ++b) {
            const there = rows.filter((row) => row.column.has(b)).map((row) => row.column.values[b]);
            if (there.length < 2) continue;
            const middle = there.slice().sort((a, c) => a - c)[there.length >> 1];
            for (const row of rows) {
                if (!row.column.has(b)) continue;
                const value = row.column.values[b];
                const far = Math.abs(value - middle) > 0.05 * Math.max(Math.abs(middle), Math.abs(value));
                if (far || Number.isNaN(value) !== Number.isNaN(middle)) row.marks.set(b, 1);
            }
        }
        const apart = rows.filter((row) => row.marks.size);
        const alike = rows.every((row) => row.column.values.every((value, b) => row.column.has(b) === rows[0].column.has(b) && Object.is(value, rows[0].column.values[b])));
        // Where all differ, as gradients do, marks would say nothing.
        const many = apart.reduce((sum, row) => sum + row.marks.size, 0) > 0.3 * rows.length * axis.first.length;
        if (many) rows.forEach((row) => row.marks.clear());
        workersNote.textContent = alike ? 'All workers have the same numbers.' : many ? 'The workers differ at most steps.' : apart.length ? `Marked: more than 5 % off the middle of all workers. ${apart.slice(0, 4).map((row) => `${row.label} at ${plural(row.marks.size, 'place')}`).join(', ')}.` : 'No worker is more than 5 % off the middle of all.';
        workers.refresh();
        workersKey.replaceChildren(el('span', { class: 'muted', text: one.label + ' ' }), legend(workersScale, { zero: workers.kinds.zero, bad: workers.kinds.bad, marks: rows.some((row) => row.marks.size) && 'differs' }));
    };

    const names = () => list.replaceChildren(...run().tensors.slice(0, 5000).map((tensor) => el('option', { value: tensor.name })));
    search.addEventListener('change', () => run().tensorPlace.has(search.value) && set({ tensor: search.value }));
    asinh.addEventListener('change', () => {
        squeezed = asinh.checked;
        redraw();
    });
    names();
    on(['run'], names);
    const later = oncePerFrame(redraw);
    on(['run', 'tensor', 'mode', 'worker', 'metric'], (changed) => {
        allBands = allBands && !changed.some((key) => key === 'run' || key === 'tensor');
        later();
    });
    const showHistogram = seenFirst(histogram.box, histogram.redraw);
    const showWorkers = seenFirst(workers.box, workers.redraw);
    on(['range'], () => {
        [values, sizes, others, ...beside].forEach((chart) => chart.setRange());
        showHistogram();
        showWorkers();
    });
    on(['step'], () => {
        [values, sizes, others, ...beside].forEach((chart) => chart.redraw());
        workers.redraw();
    });
    pictures.add({
        redraw,
        resize: () => {
            [values, sizes, others, ...beside].forEach((chart) => chart.resize());
            histogram.redraw();
            workers.redraw();
        },
    });
    part.append(title, el('div', { class: 'controls' }, el('label', { class: 'grow' }, 'Tensor ', search), list, modeLabel), facts, found, besideGrid, moreBands, el('div', { class: 'grid two' }, valuesFigure, sizesFigure, histogramFigure, othersFigure), workersFigure);
    return part;
}
