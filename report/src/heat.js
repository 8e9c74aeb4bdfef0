// A heat map of rows over steps, on a canvas of its own: two hundred rows of two thousand buckets are drawn anew in a few
// milliseconds, so that it can be zoomed and panned.
import { color, drawTicks, el, fitText, number, oncePerFrame, sizeCanvas, tooltip, viridis } from './dom.js';
import { bucketAt, stepText } from './data.js';
import { state, set } from './state.js';

const NOTHING = 0;
const ZERO = 1;
const FIRST = 2; // of the colours, to LAST
const LAST = 253;
const BAD = 255; // NaN or infinite: nothing hides it

const pack = ([r, g, b]) => (255 << 24) | (b << 16) | (g << 8) | r;
const hex = (text) => [1, 3, 5].map((i) => parseInt(text.slice(i, i + 2), 16));

// From values to colours: of logarithms where they are positive.
export class Scale {
    constructor(linear) {
        this.linear = linear;
        this.min = Infinity;
        this.max = -Infinity;
    }
    take(column) {
        const { values } = column;
        for (let i = 0; i < values.length; ++i) {
            const value = values[i]; // what is not there is NaN, too
            if (value > 0 && value < Infinity) {
                if (value < this.min) this.min = value;
                if (value > this.max) this.max = value;
            }
        }
    }
    get empty() {
        return !(this.max >= this.min);
    }
    // Twelve decades are told apart; what is smaller looks alike.
    get low() {
        return this.linear ? 0 : Math.max(this.min, this.max * 1e-12);
    }
    place(value) {
        if (this.linear) return value / (this.max || 1);
        const span = Math.log(this.max / this.low);
        return span > 0 ? Math.log(value / this.low) / span : 1;
    }
    at(t) {
        return this.linear ? t * this.max : this.low * (this.max / this.low) ** t;
    }
    code(value) {
        if (value !== value || value === Infinity || value === -Infinity) return BAD;
        if (value === 0) return ZERO;
        return FIRST + Math.round(Math.min(Math.max(this.place(value), 0), 1) * (LAST - FIRST));
    }
}

export function palette() {
    const table = new Uint32Array(256);
    for (let i = FIRST; i <= LAST; ++i) table[i] = pack(viridis((i - FIRST) / (LAST - FIRST)));
    table[ZERO] = pack(hex(color('heat-zero')));
    table[BAD] = pack(hex(color('heat-bad')));
    table[NOTHING] = 0;
    return table;
}

// The legend of a scale: a bar with numbers, and what the other colours mean.
export function legend(scale, kinds) {
    const bar = el('canvas', { class: 'scale-bar', role: 'img' });
    const context = sizeCanvas(bar, 160, 10);
    for (let x = 0; x < 160; ++x) {
        context.fillStyle = `rgb(${viridis(x / 159).join()})`;
        context.fillRect(x, 0, 1.5, 10);
    }
    bar.setAttribute('aria-label', scale.empty ? 'no values' : `colours from ${number(scale.at(0))} to ${number(scale.at(1))}`);
    const least = (scale.min < scale.low ? '\u2264 ' : '') + number(scale.at(0)); // colours end before the values do
    const swatch = (name, text) => el('span', { class: 'swatch' }, el('i', { class: name }), text);
    return el(
        'div',
        { class: 'legend-scale' },
        scale.empty ? null : el('span', { class: 'scale' }, el('span', { text: least }), bar, el('span', { text: number(scale.at(1)) + (scale.linear ? '' : ' (log)') })),
        kinds.zero && swatch('zero', '0'),
        kinds.bad && swatch('bad', 'NaN or infinite'),
        kinds.marks && swatch('mark', kinds.marks),
    );
}

export class Heat {
    // rows(): [{ label, title, column, low, marks: Map(bucket -> count), tensor, worker }]
    constructor({ label, pick, axisOf, scaleOf, rowsOf, lines, rowLabel = 'tensor' }) {
        Object.assign(this, { pick, axisOf, scaleOf, rowsOf, lines });
        this.canvas = el('canvas', { tabIndex: 0, role: 'application', 'aria-roledescription': 'heat map', 'aria-label': `${label}. Arrow keys move over rows (${rowLabel}s) and steps, Enter chooses.` });
        this.cursor = el('div', { class: 'heat-cursor', hidden: true });
        this.band = el('div', { class: 'heat-band', hidden: true });
        this.box = el('div', { class: 'heat' }, this.canvas, this.cursor, this.band);
        this.redraw = oncePerFrame(() => this.draw());
        this.at = null; // row and bucket under the cursor
        this.listen();
    }

    // Takes rows and scale anew.
    refresh() {
        this.rows = this.rowsOf();
        this.axis = this.axisOf();
        this.scale = this.scaleOf();
        const buckets = this.axis ? this.axis.first.length : 0;
        this.codes = this.rows.map((row) => {
            const codes = new Uint8Array(buckets);
            for (let i = 0; i < buckets; ++i) if (row.column.has(i)) codes[i] = this.scale.code(row.column.values[i]);
            return codes;
        });
        this.kinds = { zero: this.codes.some((codes) => codes.includes(ZERO)), bad: this.codes.some((codes) => codes.includes(BAD)) };
        this.table = palette();
        this.at = null;
        this.cursor.hidden = true;
        this.redraw();
    }

    labelWidth(rows) {
        const context = this.canvas.getContext('2d');
        context.font = '12px system-ui, sans-serif';
        return rows.reduce((most, each) => Math.max(most, context.measureText(each.label).width), 0);
    }

    layout() {
        const width = Math.max(this.box.clientWidth, 200);
        const rows = Math.max(this.rows.length, 1);
        const row = Math.max(rows > 400 ? 2 : rows > 120 ? 4 : rows > 48 ? 9 : rows > 24 ? 14 : 18, 2);
        const longest = this.widest ?? this.labelWidth(this.rows);
        const left = Math.round(Math.min(Math.max(longest + 20, 64), Math.max(width * 0.3, 110), 280));
        return { width, row, left, top: 4, height: rows * row, bottom: 22, plot: Math.max(width - left - 10, 50) };
    }

    span() {
        if (state.range) return state.range;
        // The last step is as wide as the others.
        const { first, last, steps } = this.axis;
        const end = last[last.length - 1];
        return [first[0], end + (steps > 1 ? (end - first[0]) / (steps - 1) : 1)];
    }

    draw() {
        if (!this.box.isConnected || !this.axis) return;
        const box = (this.size = this.layout());
        const context = sizeCanvas(this.canvas, box.width, box.top + box.height + box.bottom);
        const ratio = this.canvas.width / box.width;
        context.clearRect(0, 0, box.width, box.top + box.height + box.bottom);
        const [from, to] = this.span();
        const perPixel = (to - from) / box.plot;
        const wide = Math.max(1, Math.round(box.plot * ratio));
        const image = this.pixels(wide, from, to);
        context.fillStyle = color('heat-empty');
        context.fillRect(box.left, box.top, box.plot, box.height);
        context.imageSmoothingEnabled = false;
        context.drawImage(image, 0, 0, wide, this.rows.length, box.left, box.top, box.plot, box.height);
        if (box.row >= 9) {
            context.fillStyle = color('surface');
            for (let i = 1; i < this.rows.length; ++i) context.fillRect(box.left, box.top + i * box.row - 0.5, box.plot, 1);
        }
        this.drawMarks(context, box, from, perPixel);
        this.drawLabels(context, box);
        this.drawAxis(context, box, from, to);
        if (state.step !== null && state.step >= from && state.step <= to) {
            const x = box.left + (state.step - from) / perPixel;
            context.strokeStyle = color('text');
            context.setLineDash([3, 3]);
            context.beginPath();
            context.moveTo(x, box.top);
            context.lineTo(x, box.top + box.height);
            context.stroke();
            context.setLineDash([]);
        }
    }

    // One pixel a row high: the largest code of the buckets that a pixel shows.
    pixels(wide, from, to) {
        const { first, last } = this.axis;
        const size = first.length;
        const begin = new Int32Array(wide);
        const end = new Int32Array(wide);
        // A bucket fills the pixels until the next one, not more than it is wide and as much again.
        const usual = size > 1 ? (first[size - 1] - first[0]) / (size - 1) : 1;
        for (let x = 0; x < wide; ++x) {
            const a = from + ((to - from) * x) / wide;
            const b = from + ((to - from) * (x + 1)) / wide;
            const high = bucketAt(this.axis, b - Math.max((b - a) * 1e-6, Math.abs(b) * Number.EPSILON));
            let low = bucketAt(this.axis, a);
            if (low < 0) low = 0;
            if (low < high && first[low] < a && last[low] < a) ++low;
            const gone = high < 0 || (low === high && a > last[high] + Math.max(usual * 4, last[high] - first[high]) && a > first[high] + usual * 4);
            begin[x] = gone ? 1 : low;
            end[x] = gone ? 0 : high;
        }
        const picture = (this.picture ||= document.createElement('canvas'));
        picture.width = wide;
        picture.height = Math.max(this.rows.length, 1);
        const context = picture.getContext('2d');
        const image = context.createImageData(wide, picture.height);
        const out = new Uint32Array(image.data.buffer);
        this.codes.forEach((codes, row) => {
            const base = row * wide;
            for (let x = 0; x < wide; ++x) {
                let code = 0;
                for (let i = begin[x], e = end[x]; i <= e; ++i) if (codes[i] > code) code = codes[i];
                out[base + x] = this.table[code];
            }
        });
        context.putImageData(image, 0, 0);
        return picture;
    }

    drawMarks(context, box, from, perPixel) {
        const size = Math.max(2, Math.min(box.row * 0.45, 7));
        this.rows.forEach((row, i) => {
            if (!row.marks || !row.marks.size) return;
            const y = box.top + i * box.row + box.row / 2;
            // Marks that touch become a thin line, so that the colours under them are seen.
            const places = [];
            for (const bucket of row.marks.keys()) {
                const x = box.left + ((this.axis.first[bucket] + this.axis.last[bucket] + 0.5) / 2 - from) / perPixel;
                if (x < box.left - 1 || x > box.left + box.plot + 1) continue;
                const last = places[places.length - 1];
                if (last && x - last[1] < size + 3) last[1] = x;
                else places.push([x, x]);
            }
            for (const [a, b] of places) {
                const high = b > a ? Math.min(size, 3) : size;
                const begin = a - size / 2;
                const wide = Math.min(b - a + size, box.left + box.plot - begin);
                context.fillStyle = '#000';
                context.fillRect(begin - 1, y - high / 2 - 1, wide + 2, high + 2);
                context.fillStyle = '#fff';
                context.fillRect(begin, y - high / 2, wide, high);
            }
        });
    }

    drawLabels(context, box) {
        context.textBaseline = 'middle';
        context.font = `${Math.max(Math.min(box.row - 1, 12), 10)}px system-ui, sans-serif`;
        const every = Math.ceil(11 / box.row); // of thin rows only some have room for their names
        this.rows.forEach((row, i) => {
            const y = box.top + i * box.row + box.row / 2;
            const chosen = row.chosen && row.chosen();
            if (chosen) {
                context.fillStyle = color('accent-soft');
                context.fillRect(0, y - box.row / 2, box.left, box.row);
            }
            if (row.marks && row.marks.size) {
                context.fillStyle = color('bad');
                context.fillRect(0, y - Math.min(box.row, 10) / 2, 3, Math.min(box.row, 10));
            }
            if (i % every) return;
            context.fillStyle = color(chosen ? 'text' : 'muted');
            context.fillText(fitText(context, row.label, box.left - 16), 8, y + 0.5);
        });
    }

    drawAxis(context, box, from, to) {
        context.fillStyle = color('muted');
        context.strokeStyle = color('line');
        context.font = '11px system-ui, sans-serif';
        const y = box.top + box.height;
        drawTicks(context, from, to, box.left, box.left + box.plot, y + 16, (x) => {
            context.beginPath();
            context.moveTo(x, y);
            context.lineTo(x, y + 4);
            context.stroke();
        });
    }

    // What lies at a place of the canvas; null: nothing.
    find(x, y) {
        if (!this.size || !this.axis || !this.rows.length) return null;
        const box = this.size;
        const row = Math.floor((y - box.top) / box.row);
        if (row < 0 || row >= this.rows.length) return null;
        const [from, to] = this.span();
        const step = from + ((Math.max(x, box.left) - box.left) / box.plot) * (to - from);
        const bucket = Math.min(Math.max(bucketAt(this.axis, step), 0), this.axis.first.length - 1);
        return { row, bucket, label: x < box.left, step };
    }

    show(at, x, y) {
        const row = this.rows[at.row];
        const box = this.size;
        const [from, to] = this.span();
        this.at = at;
        const px = (step) => box.left + ((step - from) / (to - from)) * box.plot;
        const next = at.bucket + 1 < this.axis.first.length ? this.axis.first[at.bucket + 1] : this.axis.last[at.bucket] + 1;
        const left = Math.max(px(this.axis.first[at.bucket]), box.left);
        const right = Math.min(Math.max(px(next), left + 2), box.left + box.plot);
        Object.assign(this.cursor.style, { left: left + 'px', width: Math.max(right - left, 2) + 'px', top: box.top + at.row * box.row + 'px', height: box.row + 'px' });
        this.cursor.hidden = right <= box.left || left >= box.left + box.plot;
        const rect = this.canvas.getBoundingClientRect();
        const head = at.label ? row.title : `${row.title}`;
        tooltip.show(x ?? rect.left + right, y ?? rect.top + box.top + (at.row + 1) * box.row, at.label ? [head] : [head, stepText(this.axis, at.bucket), ...this.lines(row, at.bucket)]);
    }

    hide() {
        this.cursor.hidden = true;
        tooltip.hide();
    }

    choose(at) {
        const row = this.rows[at.row];
        this.pick(row, at.label ? null : this.axis.first[at.bucket] <= at.step && at.step <= this.axis.last[at.bucket] ? Math.round(at.step) : this.axis.first[at.bucket]);
    }

    listen() {
        const canvas = this.canvas;
        const place = (event) => {
            const rect = canvas.getBoundingClientRect();
            return [event.clientX - rect.left, event.clientY - rect.top];
        };
        let drag = null;
        canvas.addEventListener('pointermove', (event) => {
            const [x, y] = place(event);
            if (drag) {
                drag.now = x;
                if (drag.pan) this.panBy(drag);
                else if (Math.abs(x - drag.from) > 5) {
                    this.band.hidden = false;
                    Object.assign(this.band.style, { left: Math.min(x, drag.from) + 'px', width: Math.abs(x - drag.from) + 'px', top: '0', height: this.size.top + this.size.height + 'px' });
                }
                return;
            }
            const at = this.find(x, y);
            at ? this.show(at, event.clientX, event.clientY) : this.hide();
        });
        canvas.addEventListener('pointerleave', () => !drag && this.hide());
        canvas.addEventListener('pointerdown', (event) => {
            if (event.button !== 0 || event.pointerType === 'touch') return;
            const [x] = place(event);
            if (x < this.size.left) return;
            drag = { from: x, now: x, pan: event.shiftKey, range: this.span() };
            canvas.setPointerCapture(event.pointerId);
        });
        canvas.addEventListener('pointerup', (event) => {
            const [x, y] = place(event);
            const was = drag;
            drag = null;
            this.band.hidden = true;
            if (was && Math.abs(x - was.from) > 5) {
                if (!was.pan) {
                    const [from, to] = this.span();
                    const step = (at) => from + (Math.min(Math.max((at - this.size.left) / this.size.plot, 0), 1) * (to - from));
                    const range = [step(Math.min(was.from, x)), step(Math.max(was.from, x))];
                    if (range[1] - range[0] >= 0.5) set({ range });
                }
                return;
            }
            const at = this.find(x, y);
            if (at) this.choose(at);
        });
        canvas.addEventListener('dblclick', () => set({ range: null }));
        canvas.addEventListener('wheel', (event) => wheelPan(event, this.span(), this.size && this.size.plot), { passive: false });
        canvas.addEventListener('keydown', (event) => this.key(event));
        canvas.addEventListener('blur', () => this.hide());
    }

    panBy(drag) {
        const shift = ((drag.now - drag.from) / this.size.plot) * (drag.range[1] - drag.range[0]);
        set({ range: [drag.range[0] - shift, drag.range[1] - shift] });
    }

    key(event) {
        const moves = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0], PageUp: [-10, 0], PageDown: [10, 0], Home: [0, -1e9], End: [0, 1e9] };
        if (!this.rows || !this.rows.length || !this.axis) return;
        if (event.key === 'Enter' || event.key === ' ') {
            if (this.at) this.choose({ ...this.at, step: this.axis.first[this.at.bucket] });
        } else if (event.key === 'Escape') {
            this.hide();
            return;
        } else if (moves[event.key]) {
            const [from, to] = this.span();
            const buckets = this.axis.first.length;
            const start = { row: 0, bucket: Math.max(bucketAt(this.axis, from), 0) };
            const now = this.at || { row: start.row - moves[event.key][0], bucket: start.bucket - moves[event.key][1] };
            const least = Math.max(bucketAt(this.axis, from), 0);
            const most = Math.min(Math.max(bucketAt(this.axis, to), 0), buckets - 1);
            const limit = (v, a, b) => Math.min(Math.max(v, a), b);
            this.show({ row: limit(now.row + moves[event.key][0], 0, this.rows.length - 1), bucket: limit(now.bucket + moves[event.key][1], least, most), label: false });
        } else {
            return;
        }
        event.preventDefault();
    }
}

// A wheel that turns sideways, or with Shift, moves all pictures along the steps.
export function wheelPan(event, span, width) {
    const by = event.shiftKey && !event.deltaX ? event.deltaY : event.deltaX;
    if (!width || Math.abs(by) < Math.abs(event.shiftKey ? 0 : event.deltaY) || by === 0 || !state.range) return;
    event.preventDefault();
    const shift = (by / width) * (span[1] - span[0]);
    set({ range: [span[0] + shift, span[1] + shift] });
}
