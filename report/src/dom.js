// Elements, numbers as text, and colours.  Whatever comes from a run becomes text, never markup.
export function el(tag, props = {}, ...children) {
    const made = document.createElement(tag);
    for (const [key, value] of Object.entries(props)) {
        if (value === undefined || value === null || value === false) continue;
        if (key === 'class') made.className = value;
        else if (key === 'text') made.textContent = value;
        else if (key.startsWith('on')) made.addEventListener(key.slice(2), value);
        else if (key in made && !key.includes('-') && typeof value !== 'string') made[key] = value;
        else made.setAttribute(key, value === true ? '' : value);
    }
    made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
    return made;
}

const digits = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
export const count = (n) => digits.format(n);
export const plural = (n, what, many = what + 's') => `${count(n)} ${n === 1 ? what : many}`;

export function number(value) {
    value = Number(value);
    if (value !== value) return 'NaN';
    if (value === Infinity) return '\u221e';
    if (value === -Infinity) return '\u2212\u221e';
    const size = Math.abs(value);
    if (size !== 0 && (size < 1e-3 || size >= 1e6)) return value.toExponential(3).replace('e+', 'e').replace(/\.?0+e/, 'e').replace(/-/g, '\u2212');
    return String(Number(value.toPrecision(5))).replace('-', '\u2212');
}

// Between two numbers, however large or small.
export const middle = (low, high) => (low === high ? low : low / 2 + high / 2);

export function bytes(n) {
    const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
    let unit = 0;
    while (n >= 1024 && unit < units.length - 1) {
        n /= 1024;
        ++unit;
    }
    return `${unit && n < 100 ? n.toFixed(1) : Math.round(n)} ${units[unit]}`;
}

// Colours of the theme, for canvases.
export const color = (name) => getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
export const seriesColor = (i) => color('series-' + (i % 7));

// Viridis: the same to all eyes, and in grey.
const stops = ['440154', '482475', '414487', '355f8d', '2a788e', '21918c', '22a884', '44bf70', '7ad151', 'bddf26', 'fde725'];
export function viridis(t) {
    const at = Math.min(Math.max(t, 0), 1) * (stops.length - 1);
    const i = Math.min(Math.floor(at), stops.length - 2);
    const part = (stop, byte) => parseInt(stops[stop].slice(2 * byte, 2 * byte + 2), 16);
    return [0, 1, 2].map((byte) => Math.round(part(i, byte) + (part(i + 1, byte) - part(i, byte)) * (at - i)));
}

// A canvas as sharp as the screen; returns its context, in CSS pixels.
export function sizeCanvas(canvas, width, height) {
    const ratio = Math.min(window.devicePixelRatio || 1, 3);
    const w = Math.max(1, Math.round(width * ratio));
    const h = Math.max(1, Math.round(height * ratio));
    if (canvas.width !== w || canvas.height !== h) {
        canvas.width = w;
        canvas.height = h;
        canvas.style.width = width + 'px';
        canvas.style.height = height + 'px';
    }
    const context = canvas.getContext('2d');
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    return context;
}

// The end of a name says more than its beginning.
export function fitText(context, text, width) {
    if (context.measureText(text).width <= width) return text;
    let low = 0;
    let high = text.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (context.measureText('\u2026' + text.slice(middle)).width <= width) high = middle;
        else low = middle + 1;
    }
    return '\u2026' + text.slice(low);
}

// How wide the number of a step is, about, with room beside it.
export const stepWidth = (to) => String(Math.round(to)).length * 7 + 24;

// Round numbers from `from` to `to`, as many as have room in so many pixels.
export function ticks(from, to, width) {
    const span = to - from;
    const most = width / Math.max(stepWidth(to), 80);
    if (!(span > 0)) return [from];
    const raw = span / Math.max(most, 1);
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = Math.max(1, [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw));
    const all = [];
    for (let i = Math.ceil(from / step); i * step <= to; ++i) all.push(i * step);
    return all;
}

// Numbers of steps below a picture from `left` to `right`; those that would touch are left out.
export function drawTicks(context, from, to, left, right, y, mark = () => {}) {
    context.textAlign = 'center';
    context.textBaseline = 'alphabetic';
    let free = -Infinity;
    for (const tick of ticks(from, to, right - left)) {
        const x = left + ((tick - from) / (to - from)) * (right - left);
        mark(x);
        const half = context.measureText(String(tick)).width / 2;
        const middle = Math.min(Math.max(x, left + half), right - half);
        if (middle - half < free) continue;
        free = middle + half + 8;
        context.fillText(String(tick), middle, y);
    }
    context.textAlign = 'start';
}

// One bubble for all pictures.
const tip = el('div', { class: 'tip', role: 'status', 'aria-live': 'polite', hidden: true });
export const tooltip = {
    show(x, y, lines) {
        if (!tip.isConnected) document.body.append(tip);
        tip.replaceChildren(...lines.filter(Boolean).map((line, i) => el('div', { class: i ? '' : 'tip-head', text: line })));
        tip.hidden = false;
        const box = tip.getBoundingClientRect();
        const left = x + 14 + box.width > innerWidth - 8 ? x - 14 - box.width : x + 14;
        tip.style.left = Math.max(8, left) + 'px';
        tip.style.top = Math.max(8, Math.min(y + 14, innerHeight - box.height - 8)) + 'px';
    },
    hide() {
        tip.hidden = true;
    },
};

// At once where the picture is on the screen, else when nothing has changed for a while: panning draws what is looked at.
export function seenFirst(box, draw) {
    let later = 0;
    return () => {
        clearTimeout(later);
        const { top, bottom } = box.getBoundingClientRect();
        if (bottom > -50 && top < innerHeight + 50) draw();
        else later = setTimeout(draw, 200);
    };
}

// On the next frame, once however often it is asked for.
export function oncePerFrame(draw) {
    let due = 0;
    return () => {
        if (!due) {
            due = requestAnimationFrame(() => {
                due = 0;
                draw();
            });
        }
    };
}
