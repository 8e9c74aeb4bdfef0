// What the page was given: facts as JSON, and for each run its series as bytes (include/smdebug/report/page_text.hpp).
const ABSENT = 0x7fc00001; // the bits of a float that is not there; NaN is one that is
const WIDE_ABSENT = [0x7ff80000, 1]; // the same of a double, its halves

// Places of the columns, as series_column has them: the smallest and the largest of a bucket's steps.
export const METRICS = [
    { id: 'abs_mean', lo: 6, hi: 7, label: 'mean of |x|', positive: true },
    { id: 'l2', lo: 8, hi: 9, label: 'l2 norm', positive: true },
    { id: 'std', lo: 4, hi: 5, label: 'standard deviation', positive: true },
    { id: 'nan', lo: 10, hi: 10, label: 'NaN count', positive: true },
    { id: 'inf', lo: 11, hi: 11, label: 'infinity count', positive: true },
    { id: 'zeros', lo: 12, hi: 12, label: 'share of zeros', positive: true, linear: true },
    { id: 'mean', lo: 2, hi: 3, label: 'mean' },
    { id: 'min', lo: 0, hi: 0, label: 'minimum' },
    { id: 'max', lo: 1, hi: 1, label: 'maximum' },
];
export const metric = (id) => METRICS.find((one) => one.id === id) || METRICS[0];
// The number that pictures show first: the first that some tensor has.
export const usualMetric = (runs) => (METRICS.find((one) => one.positive && runs.some((run) => run.series.some((each) => !each.scalar && each.column(one.hi).there.includes(1)))) || METRICS[0]).id;
const COLUMNS = 13;
const BINS = 32;

export const readFacts = () => JSON.parse(document.getElementById('facts').textContent);

function bytesOf(id) {
    const text = document.getElementById(id).textContent;
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
    const raw = atob(text);
    const bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; ++i) bytes[i] = raw.charCodeAt(i);
    return bytes;
}

class Reader {
    constructor(bytes) {
        this.bytes = bytes;
        this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
        this.at = 0;
    }
    byte() {
        return this.bytes[this.at++];
    }
    whole() {
        let value = 0;
        let scale = 1;
        for (;;) {
            const byte = this.bytes[this.at++];
            value += (byte & 127) * scale;
            if (byte < 128) return value;
            scale *= 128;
        }
    }
    signed() {
        const value = this.whole();
        return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
    }
    // One behind the other, as floats or doubles.
    numbers(count) {
        const wide = this.byte() === 1;
        return Array.from({ length: count }, () => {
            const value = wide ? this.view.getFloat64(this.at, true) : this.view.getFloat32(this.at, true);
            this.at += wide ? 8 : 4;
            return value;
        });
    }
}

// Numbers by bucket, some of which are not there.
class Column {
    constructor(size) {
        this.values = new Float64Array(size).fill(NaN);
        this.there = new Uint8Array(size);
    }
    has(i) {
        return this.there[i] === 1;
    }
    put(i, value) {
        this.values[i] = value;
        this.there[i] = 1;
    }
    // The same with other numbers; undefined: not there.
    changed(change) {
        const made = new Column(this.values.length);
        for (let i = 0; i < this.values.length; ++i) {
            const value = this.has(i) ? change(this.values[i], i) : undefined;
            if (value !== undefined) made.put(i, value);
        }
        return made;
    }
    // From bytes: a float, or a double.
    read(i, view, at, wide) {
        const absent = wide ? view.getUint32(at + 4, true) === WIDE_ABSENT[0] && view.getUint32(at, true) === WIDE_ABSENT[1] : view.getUint32(at, true) === ABSENT;
        if (!absent) this.put(i, wide ? view.getFloat64(at, true) : view.getFloat32(at, true));
    }
}

class Series {
    constructor(run, reader) {
        this.run = run;
        this.tensor = reader.whole();
        this.worker = reader.whole();
        this.axis = reader.whole();
        this.scalar = reader.byte() === 1;
        this.size = run.axes[this.axis].first.length;
        this.runs = [];
        let rows = 0;
        for (let i = 0, n = reader.whole(); i < n; ++i) {
            this.runs.push(reader.whole());
            rows += i % 2 ? this.runs[i] : 0;
        }
        this.view = reader.view;
        this.places = []; // of columns: kind and place
        for (let i = 0, n = this.scalar ? 2 : COLUMNS; i < n; ++i) {
            const kind = reader.byte();
            this.places.push([kind, reader.at]);
            reader.at += [4, 4 * rows, 0, 8, 8 * rows][kind];
        }
        this.distributions = [];
        for (let n = reader.whole(); n > 0; --n) {
            const one = { bucket: reader.whole() };
            [one.q1, one.median, one.q3, one.low, one.high] = reader.numbers(5);
            one.counts = reader.bytes.subarray(reader.at, reader.at + BINS);
            reader.at += BINS;
            this.distributions.push(one);
        }
        this.columns = [];
    }
    // Made when it is asked for.
    column(which) {
        return (this.columns[which] ||= this.scalar ? this.scalarColumn(which) : this.rawColumn(which));
    }
    rawColumn(which) {
        const [kind, from] = this.places[which];
        if (kind === 2) return this.scalar ? this.rawColumn(which - 1) : this.column(which - 1);
        const made = new Column(this.size);
        const wide = kind > 2;
        const step = kind === 1 ? 4 : kind === 4 ? 8 : 0;
        let bucket = 0;
        let at = from;
        this.runs.forEach((length, i) => {
            if (i % 2) for (let j = bucket; j < bucket + length; ++j, at += step) made.read(j, this.view, at, wide);
            bucket += length;
        });
        return made;
    }
    scalarColumn(which) {
        const raw = this.rawColumn(which % 2 || which >= 10 ? 1 : 0);
        const low = which === 7 || which === 9 ? this.rawColumn(0) : null; // of numbers of both signs the larger size
        const change = which < 4 ? null : which < 6 ? () => 0 : which < 10 ? (v, i) => Math.abs(low && -low.values[i] > v ? low.values[i] : v) : which === 10 ? (v) => +(v !== v) : which === 11 ? (v) => +(v === Infinity || v === -Infinity) : (v) => +(v === 0);
        return change ? raw.changed(change) : raw;
    }
}

// The smallest, or largest, of several series at each bucket; NaN is the largest.
export function mergedColumn(series, which, largest) {
    if (series.length === 1) return series[0].column(which);
    const made = new Column(series.length ? series[0].size : 0);
    for (const one of series) {
        const column = one.column(which);
        for (let i = 0; i < made.values.length; ++i) {
            if (!column.has(i)) continue;
            const value = column.values[i];
            const now = made.values[i];
            if (!made.has(i) || (largest ? value > now || value !== value : value < now || now !== now)) made.put(i, value);
        }
    }
    return made;
}

// Of a band: numbers in healthy runs, and bounds, by mode steps.
function readWindows(reader) {
    let at = 0;
    return Array.from({ length: reader.whole() }, () => {
        const first = at + reader.signed();
        const last = (at = first + reader.signed());
        const runs = reader.whole();
        const sides = reader.byte(); // that have a bound
        const [least, greatest, ...bounds] = reader.numbers(2 + (sides & 1) + (sides >> 1));
        return { first, last, runs, least, greatest, lower: sides & 1 ? bounds[0] : -Infinity, upper: sides & 2 ? bounds[bounds.length - 1] : Infinity };
    });
}

export function readRun(facts, index) {
    const run = { ...facts, index, axes: facts.axes.map((axis) => ({ ...axis })), series: [], marks: [] };
    const reader = new Reader(bytesOf('data' + index));
    reader.whole();
    for (const axis of run.axes) {
        const size = reader.whole();
        for (const key of ['first', 'last', 'modeStep', 'lastModeStep', 'count']) axis[key] = new Float64Array(size);
        let first = 0;
        let modeStep = 0;
        for (let i = 0; i < size; ++i) {
            axis.first[i] = first += reader.signed();
            axis.last[i] = first + reader.signed();
            axis.modeStep[i] = modeStep += reader.signed();
            axis.lastModeStep[i] = modeStep + reader.signed();
            axis.count[i] = reader.whole();
        }
        axis.together = axis.count.some((n) => n > 1);
    }
    for (let n = reader.whole(); n > 0; --n) run.series.push(new Series(run, reader));
    run.byTensor = new Map();
    for (const one of run.series) {
        if (!run.byTensor.has(one.tensor)) run.byTensor.set(one.tensor, []);
        run.byTensor.get(one.tensor).push(one);
    }
    for (let n = reader.whole(); n > 0; --n) {
        const mark = { rule: reader.whole(), tensor: reader.whole(), worker: reader.whole(), places: [] };
        let axis = 0;
        let bucket = 0;
        for (let m = reader.whole(); m > 0; --m) {
            const now = reader.whole();
            const delta = reader.whole();
            bucket = now === axis ? bucket + delta : delta;
            axis = now;
            mark.places.push({ axis, bucket, count: reader.whole() });
        }
        run.marks.push(mark);
    }
    run.marksOf = new Map();
    for (const mark of run.marks) {
        if (!run.marksOf.has(mark.tensor)) run.marksOf.set(mark.tensor, []);
        run.marksOf.get(mark.tensor).push(mark);
    }
    run.bandsOf = new Map();
    for (const band of facts.bands || []) {
        if (!run.bandsOf.has(band.tensor)) run.bandsOf.set(band.tensor, []);
        run.bandsOf.get(band.tensor).push({ ...band, windows: readWindows(reader) });
    }
    const all = run.axes.flatMap((axis) => (axis.first.length ? [axis.first[0], axis.last[axis.last.length - 1]] : []));
    run.steps = all.length ? [Math.min(...all), Math.max(...all)] : [0, 0];
    run.stepCount = run.axes.reduce((sum, axis) => sum + axis.steps, 0);
    run.tensorPlace = new Map(run.tensors.map((tensor, place) => [tensor.name, place]));
    return run;
}

// The series of a tensor on an axis: of one worker, or of all.
export const seriesOf = (run, tensor, axis, worker) =>
    (run.byTensor.get(tensor) || []).filter((one) => one.axis === axis && (worker < 0 || one.worker === worker));

// The bucket of an axis that shows a step: the last one that begins at or before it.
export function bucketAt(axis, step) {
    let low = 0;
    let high = axis.first.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (axis.first[middle] <= step) low = middle + 1;
        else high = middle;
    }
    return low - 1;
}

export const stepText = (axis, bucket) => {
    const first = axis.first[bucket];
    const mode = axis.mode === 'GLOBAL' ? '' : ` (${axis.mode} ${axis.modeStep[bucket]})`;
    return axis.count[bucket] > 1 ? `steps ${first} to ${axis.last[bucket]}` : `step ${first}${mode}`;
};

// Names of the scalars that are shown first: losses and metrics, else whatever has one element.
export function scalarTensors(runs) {
    const groups = ['losses', 'metrics', 'scalars', 'sm_metrics'];
    const names = new Map();
    for (const run of runs) {
        run.tensors.forEach((tensor, place) => {
            const series = run.byTensor.get(place);
            if (!series || !series.every((one) => one.scalar)) return;
            const rank = run.collections.reduce((best, group) => {
                const at = groups.indexOf(group.name);
                return at >= 0 && group.tensors.includes(place) ? Math.min(best, at) : best;
            }, groups.length);
            names.set(tensor.name, Math.min(rank, names.get(tensor.name) ?? groups.length));
        });
    }
    const sorted = [...names].sort((a, b) => a[1] - b[1] || (a[0] < b[0] ? -1 : 1));
    return sorted.map((one) => one[0]);
}
