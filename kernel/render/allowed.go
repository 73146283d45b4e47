package render

import (
	"regexp"
	"strings"
)

// What may pass from untrusted sources: Markdown's raw HTML, SVG files, and all of a stranger's notebook. Whatever is
// not named here is cut, so that an element or attribute that browsers learn later is cut as well.

var (
	// Attributes of HTML, in lower case. aria-* pass as well.
	htmlAttributes = set(`abbr align alt border cellpadding cellspacing cite class colspan compact datetime dir headers height hidden href id lang name open
		reversed role rowspan scope span src start style tabindex title type valign value width`)

	// Attributes of SVG, as XML has them; HTML writes them in any case. aria-* pass as well.
	svgAttributes = set(`id class style role lang tabindex version viewBox preserveAspectRatio width height x y x1 y1 x2 y2 cx cy r rx ry fx fy fr d points pathLength transform
		transform-origin href opacity fill fill-opacity fill-rule stroke stroke-width stroke-opacity stroke-linecap stroke-linejoin stroke-miterlimit stroke-dasharray
		stroke-dashoffset color color-interpolation color-interpolation-filters color-rendering paint-order vector-effect display visibility overflow shape-rendering
		text-rendering image-rendering mix-blend-mode clip clip-path clip-rule clipPathUnits mask maskUnits maskContentUnits mask-type marker marker-start marker-mid marker-end
		markerWidth markerHeight markerUnits refX refY orient font-family font-size font-size-adjust font-stretch font-style font-variant font-weight text-anchor
		text-decoration dominant-baseline alignment-baseline baseline-shift letter-spacing word-spacing writing-mode direction unicode-bidi dx dy rotate textLength
		lengthAdjust startOffset method spacing side offset stop-color stop-opacity gradientUnits gradientTransform spreadMethod patternUnits patternContentUnits
		patternTransform filter filterUnits primitiveUnits flood-color flood-opacity lighting-color in in2 result mode operator k1 k2 k3 k4 values type tableValues slope
		intercept amplitude exponent order kernelMatrix divisor bias targetX targetY edgeMode preserveAlpha surfaceScale diffuseConstant specularConstant
		specularExponent kernelUnitLength azimuth elevation pointsAtX pointsAtY pointsAtZ limitingConeAngle z scale xChannelSelector yChannelSelector stdDeviation radius
		baseFrequency numOctaves seed stitchTiles attributeName attributeType begin dur end min max restart repeatCount repeatDur calcMode keyTimes keySplines
		keyPoints from to by additive accumulate path origin media systemLanguage`)

	// svgSpelling has SVG's attributes by their names in lower case.
	svgSpelling = func() map[string]string {
		m := map[string]string{}
		for name := range svgAttributes {
			m[strings.ToLower(name)] = name
		}
		return m
	}()

	// Properties in the style of a stranger's HTML: nothing that puts an element over the page around it.
	cssProperties = set(`color background background-color border border-top border-right border-bottom border-left border-color border-style border-width border-collapse
		border-spacing border-radius border-top-color border-right-color border-bottom-color border-left-color border-top-width border-right-width border-bottom-width
		border-left-width border-top-style border-right-style border-bottom-style border-left-style padding padding-top padding-right padding-bottom padding-left margin
		margin-top margin-right margin-bottom margin-left width min-width max-width height min-height max-height text-align text-decoration text-indent text-transform
		vertical-align white-space font font-family font-size font-style font-variant font-weight line-height letter-spacing word-break word-wrap overflow-wrap list-style-type
		opacity fill fill-opacity fill-rule stroke stroke-width stroke-opacity stroke-linecap stroke-linejoin stroke-dasharray stop-color stop-opacity text-anchor
		dominant-baseline`)

	// Functions of CSS and of SVG's attributes that compute a value and load nothing. url() is looked at by itself.
	cssFunctions = set(`rgb rgba hsl hsla hwb lab lch oklab oklch color calc min max clamp matrix matrix3d translate translatex translatey translate3d scale scalex scaley rotate rotatez skew
		skewx skewy cubic-bezier steps linear rect inset circle ellipse polygon path blur brightness contrast drop-shadow grayscale hue-rotate invert opacity saturate sepia
		linear-gradient radial-gradient conic-gradient repeating-linear-gradient repeating-radial-gradient not is where nth-child nth-of-type nth-last-child`)

	cssFunction = regexp.MustCompile(`([A-Za-z0-9_-]+)\(`) // a space before the parenthesis makes it none
	ownURL      = regexp.MustCompile(`(?i)url\(\s*(?:"#[\w.:-]+"|'#[\w.:-]+'|#[\w.:-]+)\s*\)`)
	atRule      = regexp.MustCompile(`@\s*([A-Za-z-]*)`)
	negative    = regexp.MustCompile(`-\s*[0-9.]`)
)

// loadsNothing reports whether a value of CSS, or of an attribute that may contain CSS, can't make a browser load
// anything: its functions are known, and url() names only parts of the same document.
func loadsNothing(value string) bool {
	if strings.ContainsAny(value, "\\<") { // \75rl( is url( as well
		return false
	}
	if !strings.ContainsAny(value, "(@") { // as in nearly all attributes
		return true
	}
	for _, m := range cssFunction.FindAllStringSubmatch(ownURL.ReplaceAllString(value, ""), -1) {
		if !cssFunctions[strings.ToLower(m[1])] {
			return false
		}
	}
	for _, m := range atRule.FindAllStringSubmatch(value, -1) {
		if name := strings.ToLower(m[1]); name != "media" && name != "keyframes" && name != "supports" {
			return false
		}
	}
	return true
}

// plainStyle keeps those declarations of a style attribute that change how an element looks and not where it is.
func plainStyle(style string) string {
	var kept []string
	for _, declaration := range strings.Split(style, ";") {
		property, value, ok := strings.Cut(declaration, ":")
		property = strings.ToLower(strings.TrimSpace(property))
		if ok && cssProperties[property] && loadsNothing(value) && !strings.ContainsAny(value, "@!") && !negative.MatchString(value) && !strings.Contains(strings.ToLower(value), "calc") {
			kept = append(kept, property+":"+strings.TrimSpace(value))
		}
	}
	return strings.Join(kept, ";")
}
