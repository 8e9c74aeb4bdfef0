// What a number was in healthy runs, behind its line: the range, and the bounds beyond which a rule has fired.
import { mergedColumn } from './data.js';
import { middle, number, plural } from './dom.js';

const names = { value: 'value', mean: 'mean', std: 'standard deviation', abs_mean: 'mean of |x|', abs_max: 'largest |x|', l1: 'l1 norm', l2: 'l2 norm', zeros: 'share of zeros', min: 'minimum', max: 'maximum' };
const columns = { value: [2, 3], mean: [2, 3], std: [4, 5], abs_mean: [6, 7], l2: [8, 9], zeros: [12, 12] };

export const nameOfNumber = (band) => names[band.number] || band.number;

const joined = (one, other) => ({
    runs: Math.max(one.runs, other.runs),
    least: Math.min(one.least, other.least),
    greatest: Math.max(one.greatest, other.greatest),
    lower: Math.min(one.lower, other.lower),
    upper: Math.max(one.upper, other.upper),
});

// At each bucket of the axis that has a step in a window: all windows that it has steps in; and from where to where it is drawn.
function placesOf(band, axis) {
    const all = [];
    let w = 0;
    for (let i = 0; i < axis.first.length; ++i) {
        if (i && axis.modeStep[i] < axis.modeStep[i - 1]) w = 0; // a mode that has begun anew
        while (w < band.windows.length && band.windows[w].last < axis.modeStep[i]) ++w;
        let here = null;
        for (let k = w; k < band.windows.length && band.windows[k].first <= axis.lastModeStep[i]; ++k) here = here ? joined(here, band.windows[k]) : band.windows[k];
        if (!here) continue;
        const [x, before, after] = [axis.first[i], axis.first[i - 1], axis.first[i + 1]];
        const beside = (one, other) => (one ?? (other === undefined ? x : 2 * x - other));
        all.push({ ...here, bucket: i, from: middle(beside(before, after), x), to: middle(x, beside(after, before)) });
    }
    return all;
}

const runsText = (all) => {
    const least = all.reduce((m, one) => Math.min(m, one.runs), Infinity);
    const most = all.reduce((m, one) => Math.max(m, one.runs), 0);
    return `${least < most ? `${least} to ` : ''}${plural(most, 'healthy run')}`;
};

// The band as a curve for Lines, on this axis; null: nothing of it is judged there.  `worker`: of whom findings are marked; empty: all.
export function bandCurve(band, axis, color, mode = '', worker = '') {
    const at = placesOf(band, axis);
    if (!at.length) return null;
    const finite = (values) => values.map((v) => (Number.isFinite(v) ? v : null));
    const marks = at.map(() => null);
    for (const { step, value, worker: whose } of band.found) {
        const j = at.findIndex((one) => axis.first[one.bucket] <= step && step <= axis.last[one.bucket]);
        if (j >= 0 && Number.isFinite(value) && (!worker || worker === whose)) marks[j] = value;
    }
    return {
        label: `${mode ? mode + ' ' : ''}in ${runsText(at)}`,
        runs: runsText(at),
        color,
        x: at.map((one) => axis.first[one.bucket]),
        y: at.map((one) => one.greatest),
        // What the axis must show: bounds may lie far away, where nothing is near them.
        reach: [at.map((one) => one.least), ...(band.found.length ? [finite(at.map((one) => one.lower)), finite(at.map((one) => one.upper))] : []), marks],
        area: at,
        found: marks,
        text: (i) => {
            const { runs, least, greatest, lower, upper } = at[i];
            const sides = [lower > -Infinity && `below ${number(lower)}`, upper < Infinity && `above ${number(upper)}`].filter(Boolean);
            return `healthy${mode ? ' ' + mode : ''}: ${number(least)} to ${number(greatest)} in ${plural(runs, 'run')}${sides.length ? `; fires ${sides.join(', ')}` : ''}`;
        },
    };
}

// The least and the largest of a number at each bucket, of some series of a tensor; null: the report has not got it.
export function columnsOf(band, series, tensor) {
    const [low, high] = columns[band.number] || [];
    if (low !== undefined) return [mergedColumn(series, low, false), mergedColumn(series, high, true)];
    if (band.number === 'min' || band.number === 'max') {
        const one = mergedColumn(series, band.number === 'min' ? 0 : 1, band.number === 'max');
        return [one, one];
    }
    if (band.number === 'abs_max') {
        const [least, most] = [mergedColumn(series, 0, false), mergedColumn(series, 1, true)];
        const one = most.changed((value, i) => (least.has(i) ? Math.max(-least.values[i], value) : undefined));
        return [one, one];
    }
    // Saved as the mean: as many times that as there are elements.
    if (band.number === 'l1' && tensor.shape !== undefined && !tensor.changes) {
        const elements = tensor.shape.split('x').reduce((product, extent) => product * Number(extent || 1), 1);
        return [mergedColumn(series, 6, false), mergedColumn(series, 7, true)].map((column) => column.changed((value) => value * elements));
    }
    return null;
}
